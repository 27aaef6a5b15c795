"""Every notebook is executed, in order and complete; and the comparison with nbval really compares.

nbval passes in silence on cells that were never executed, so `faults` looks at the stored files themselves.
"""

import ast
import base64
import copy
import io
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import nbformat
import pytest
from PIL import Image

from ngeodesic import statements

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
RUN = ROOT / "notebooks" / "run.py"

LINES_PER_CELL = 40
# all others skip a check, hide an output from the reader, or keep an editor's state
TAGS = {"hide-input", "hide-cell"}
MYSTNB = {"figure", "image", "code_prompt_show", "code_prompt_hide"}
ABSOLUTE_PATH = re.compile(r"(?<![\w.:/])/(?:home|root|work|tmp|usr|opt|var|private|Users|mnt)/|\b[A-Z]:\\\\")
ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")
MARKDOWN_IMAGE = re.compile(r"!\[\s*\]\(|<img (?![^>]*alt=\"[^\"]+\")")
PICTURES = {"image/png", "image/svg+xml", "image/jpeg"}
GLUE = "application/papermill.record/"
COMPARED = {"text/plain", "text/html", "text/latex"}


def load(path):
    return nbformat.read(path, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def prose(notebook):
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def shown(cell):
    """Mime types of a cell's outputs."""
    return {mime for output in cell.outputs for mime in output.get("data", ())}


def is_private(name):
    return any(part.startswith("_") and not part.startswith("__") for part in name.split("."))


def private_names(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if is_private(alias.name))
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or "", *(alias.name for alias in node.names)]
            yield from filter(is_private, names)
        elif isinstance(node, ast.Attribute) and is_private(node.attr):
            yield node.attr


def shows_something(tree, source):
    """Does a cell with this text leave an output? A final expression does, unless a semicolon follows."""
    if isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";"):
        return True
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return any(isinstance(f, ast.Name) and f.id in {"print", "display", "glue"} for f in calls)


def source_faults(cell):
    """What is wrong with the text of a code cell."""
    try:
        tree = ast.parse(cell.source)
    except SyntaxError:
        yield "is not plain Python"
        return
    if not tree.body:
        yield "is empty"
        return
    for name in private_names(tree):
        yield f"uses the private name {name}"
    if re.search("NBVAL_|PYTEST_VALIDATE_", cell.source):
        yield "has an NBVAL_ comment"
    if shows_something(tree, cell.source) and not cell.outputs:
        yield "shows something and has no output"


def output_faults(cell):
    """What is wrong with the stored outputs of a code cell."""
    for output in cell.outputs:
        if output.output_type == "error":
            yield "stored an error"
        if output.get("name") == "stderr":
            yield "stored something written to stderr"
    texts = [output.get("text", "") for output in cell.outputs]
    texts += [v for o in cell.outputs for k, v in o.get("data", {}).items() if k not in PICTURES]
    text = json.dumps(texts)
    if ABSOLUTE_PATH.search(text + cell.source):
        yield "names an absolute path"
    if ADDRESS.search(text):
        yield "shows the address of an object"
    for output in cell.outputs:
        data = output.get("data", {})
        if {mime for mime in data if GLUE not in mime} - {*PICTURES, *COMPARED}:
            yield f"has an output of the kinds {sorted(data)}"
        if "image/png" in data and not is_picture(data["image/png"]):
            yield "stored a picture that cannot be read"


def is_picture(encoded):
    try:
        with Image.open(io.BytesIO(base64.b64decode(encoded))) as picture:
            picture.load()
            return min(picture.size) > 200
    except (OSError, ValueError, SyntaxError):
        return False


def figure_faults(cell):
    """A picture needs a caption, a name to refer to, and a text for those who cannot see it."""
    book = cell.metadata.get("mystnb", {})
    figure, image = book.get("figure", {}), book.get("image", {})
    if any(mime.startswith("application/papermill.record/image") for mime in shown(cell)):
        yield "glues a picture, which nbval cannot compare"
    if figure and not PICTURES & shown(cell):
        yield "has a caption and no picture"
    if PICTURES & shown(cell):
        alt = image.get("alt", "")
        if not figure.get("name") or len(figure.get("caption", "")) < 20:
            yield "shows a picture without a name and a caption"
        if len(alt) < 20 or alt == figure.get("caption"):
            yield "shows a picture without alt text of its own"


def faults(notebook):
    """Everything that is wrong with a notebook, in words."""
    found = []
    if (notebook.nbformat, notebook.nbformat_minor) < (4, 5):
        found.append("is older than nbformat 4.5: cells have no ids")
    if notebook.metadata.get("kernelspec", {}).get("name") != "python3":
        found.append("wants a kernel other than python3")
    if set(notebook.metadata) - {"kernelspec", "language_info"}:
        found.append("has metadata that only an editor needs")
    counts = [cell.execution_count for cell in code_cells(notebook)]
    if counts != list(range(1, len(counts) + 1)) or {type(n) for n in counts} != {int}:
        found.append(f"was not executed from top to bottom: {counts}")
    if not any(cell.outputs for cell in code_cells(notebook)):
        found.append("has no outputs")
    for number, cell in enumerate(notebook.cells, start=1):
        problems = []
        if len(cell.source.splitlines()) > LINES_PER_CELL:
            problems.append(f"is longer than a screen of {LINES_PER_CELL} lines")
        if set(cell.metadata.get("tags", ())) - ({*TAGS, "remove-cell"} if "glue(" in cell.source else TAGS):
            problems.append("has a tag that skips a check or hides an output")
        if set(cell.metadata.get("mystnb", ())) - MYSTNB:
            problems.append(f"has settings {sorted(cell.metadata.mystnb)} that may hide an output")
        if set(cell.metadata) - {"mystnb", "tags"}:
            problems.append(f"has metadata {sorted(cell.metadata)}: timings or an editor's state")
        if cell.cell_type == "raw":
            problems.append("is raw: nothing runs it")
        if cell.cell_type == "code":
            problems += [*source_faults(cell), *output_faults(cell), *figure_faults(cell)]
        elif MARKDOWN_IMAGE.search(cell.source):
            problems.append("shows an image without alt text")
        found += [f"cell {number} {problem}" for problem in problems]
    return found


def statement_faults(statement, text):
    """What the chapter of a statement, given as its prose, lacks."""
    target = rf"\({re.escape(statement.id)}\)="
    directive = r"[`:]{3,}\{prf:(theorem|proposition|lemma|corollary)\}"
    if not re.search(rf"^{target}\n+{directive}", text, re.MULTILINE):
        yield f"({statement.id})= does not stand above a theorem"
    for step in statement.steps:
        if f"`{step.label}`" not in text:
            yield f"the step {step.label} of {statement.id} is not in the text"


@pytest.fixture(scope="module")
def chapter():
    """A real chapter that shows both digits and formulas: the shortest such notebook."""
    fitting = [p for p in NOTEBOOKS if find_output(load(p), DIGIT) and find_output(load(p), SYMBOL)]
    return min(fitting, key=lambda path: len(load(path).cells))


DIGIT = re.compile(r"(?<=\.\d\d)\d")  # the third decimal of a computed number
SYMBOL = re.compile(r"\\(?:alpha|theta|beta)\b")


def find_output(notebook, pattern):
    """The first stored text with a match, pictures aside: its cell, its output, its mime type, the match."""
    for index, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", ()):
            for mime in ("text/latex", "text/html", "text/plain"):
                match = pattern.search(output.get("data", {}).get(mime, ""))
                if match and not PICTURES & shown(cell):
                    return index, output, mime, match
    return None


def change(notebook, pattern, new):
    """A copy with one stored character or symbol replaced, and the number of the code cell where it is."""
    changed = copy.deepcopy(notebook)
    index, output, mime, match = find_output(changed, pattern)
    text = output.data[mime]
    output.data[mime] = text[: match.start()] + new(match.group()) + text[match.end() :]
    return changed, sum(cell.cell_type == "code" for cell in changed.cells[:index])


def test_notebooks_of_the_book_exist():
    names = {path.stem for path in NOTEBOOKS}
    chapters = {statement.chapter for statement in statements.ALL.values()}
    assert chapters | {"results", "statements"} <= names


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_executed_and_complete(path):
    assert faults(load(path)) == []


@pytest.mark.parametrize("identifier", statements.ALL)
def test_statement_stands_in_its_chapter(identifier):
    statement = statements.get(identifier)
    text = prose(load(ROOT / "notebooks" / f"{statement.chapter}.ipynb"))
    assert list(statement_faults(statement, text)) == []


def test_a_statement_without_anchor_or_step_is_noticed():
    statement = next(iter(statements.ALL.values()))
    text = prose(load(ROOT / "notebooks" / f"{statement.chapter}.ipynb"))
    assert any("theorem" in f for f in statement_faults(statement, text.replace(f"({statement.id})=", "")))
    label = statement.steps[0].label
    assert any(label in f for f in statement_faults(statement, text.replace(label, "another")))


def clear(cell, notebook):
    cell.outputs, cell.execution_count = [], None


def clear_output_only(cell, notebook):
    next(c for c in code_cells(notebook) if c.outputs).outputs = []


def add_error(cell, notebook):
    cell.outputs.append(nbformat.v4.new_output("error", ename="ValueError", evalue="", traceback=[]))


def add_stderr(cell, notebook):
    cell.outputs.append(nbformat.v4.new_output("stream", name="stderr", text="DeprecationWarning"))


def add_picture(cell, notebook):
    cell.outputs.append(nbformat.v4.new_output("display_data", data={"image/png": "iVBORw0KGgo="}))


def add_path(cell, notebook):
    cell.outputs.append(nbformat.v4.new_output("stream", name="stdout", text="read /home/me/data.npz"))


def add_address(cell, notebook):
    cell.outputs.append(nbformat.v4.new_output("stream", name="stdout", text="<object at 0x7f12ab34cd56>"))


def picture_of(notebook):
    """The data of the first picture in a notebook."""
    return next(o.data for c in code_cells(notebook) for o in c.outputs if "image/png" in o.get("data", ()))


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (clear, "top to bottom"),
        (clear_output_only, "shows something"),
        (add_error, "stored an error"),
        (add_stderr, "stderr"),
        (add_picture, "name and a caption"),
        (add_picture, "alt text"),
        (add_path, "absolute path"),
        (add_address, "address"),
        (lambda cell, notebook: cell.metadata.update(tags=["nbval-skip"]), "a tag that skips"),
        (lambda cell, notebook: cell.metadata.update(tags=["raises-exception"]), "a tag that skips"),
        (lambda cell, notebook: cell.metadata.update(execution={"iopub.execute_input": "t"}), "timings"),
        (lambda cell, notebook: cell.update(source="1  # NBVAL_IGNORE_OUTPUT"), "NBVAL_"),
        (lambda cell, notebook: cell.update(source="1  # PYTEST_VALIDATE_IGNORE_OUTPUT"), "NBVAL_"),
        (lambda cell, notebook: cell.metadata.update(tags=["pytest-validate-ignore-output"]), "a tag"),
        (lambda cell, notebook: cell.metadata.update(tags=["remove-output"]), "a tag"),
        (lambda cell, notebook: cell.metadata.update(mystnb={"remove_code_outputs": True}), "settings"),
        (lambda cell, notebook: cell.update(cell_type="raw"), "is raw"),
        (lambda cell, notebook: cell.update(execution_count=True), "top to bottom"),
        (lambda cell, notebook: picture_of(notebook).update({"image/png": "iVBORw0KGgo="}), "cannot be read"),
        (lambda cell, notebook: picture_of(notebook).update({"image/gif": "R0lGOD"}), "of the kinds"),
        (
            lambda cell, notebook: cell.update(source="from ngeodesic import _arrays"),
            "private",
        ),
        (lambda cell, notebook: cell.update(source="import ngeodesic._arrays"), "private"),
        (lambda cell, notebook: cell.update(source="%time 1"), "plain Python"),
        (lambda cell, notebook: cell.update(source="x = 1\n" * 41), "longer than a screen"),
        (lambda cell, notebook: notebook.metadata.kernelspec.update(name="my-env"), "kernel"),
        (lambda cell, notebook: notebook.metadata.update(widgets={}), "editor"),
    ],
)
def test_the_guard_notices(chapter, spoil, complaint):
    notebook = load(chapter)
    spoil(code_cells(notebook)[0], notebook)
    assert any(complaint in fault for fault in faults(notebook))


PLAIN = ["-p", "no:cacheprovider", "-p", "no:xdist", "-c", ROOT / "pyproject.toml"]


def nbval(folder):
    """Compare a folder's notebooks with nbval and the project's options; return which cells failed."""
    report = folder / "report.xml"
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *PLAIN, f"--junitxml={report}", "--rootdir", folder, folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode in (0, 1), result.stdout + result.stderr
    failed = {path.name: [] for path in folder.glob("*.ipynb")}
    compared = dict.fromkeys(failed, 0)
    for case in ET.parse(report).iter("testcase"):
        compared[case.get("classname")] += 1
        if case.find("failure") is not None:
            failed[case.get("classname")].append(int(case.get("name").removeprefix("Cell ")))
    assert set(compared.values()) == {len(code_cells(load(path))) for path in folder.glob("*.ipynb")}
    return failed


def test_nbval_compares_digits_and_formulas(chapter, tmp_path):
    original = load(chapter)
    digit, digit_cell = change(original, DIGIT, lambda d: str((int(d) + 1) % 10))
    symbol, symbol_cell = change(original, SYMBOL, lambda s: r"\gamma")
    for name, notebook in {"unchanged": original, "digit": digit, "symbol": symbol}.items():
        nbformat.write(notebook, tmp_path / f"{name}.ipynb")
    failed = nbval(tmp_path)
    assert failed == {"unchanged.ipynb": [], "digit.ipynb": [digit_cell], "symbol.ipynb": [symbol_cell]}


def small_notebook(path, *sources):
    cells = [nbformat.v4.new_code_cell(source, id=f"c{i}") for i, source in enumerate(sources)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


def run(*paths):
    return subprocess.run([sys.executable, RUN, *paths], capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(
    ("bad", "message"),
    [("1 / 0", "ZeroDivisionError"), ("import sys; print('careful', file=sys.stderr)", "careful")],
)
def test_a_failing_cell_stores_nothing(tmp_path, bad, message):
    good = small_notebook(tmp_path / "good.ipynb", "1 + 1")
    failing = small_notebook(tmp_path / "failing.ipynb", "1 + 1", bad)
    before = good.read_bytes(), failing.read_bytes()
    result = run(good, failing)
    assert result.returncode == 1
    assert message in result.stderr
    assert (good.read_bytes(), failing.read_bytes()) == before


def test_running_twice_gives_the_same_bytes(tmp_path):
    path = small_notebook(tmp_path / "small.ipynb", "x = {'b', 'a', 'c'}", "print(x)\n1 / 3")
    assert run(path).returncode == 0
    first = path.read_bytes()
    assert faults(load(path)) == []
    assert run(path).returncode == 0
    assert path.read_bytes() == first


def test_the_trust_page_explains_every_kind_and_status():
    page = (ROOT / "book" / "trust.md").read_text(encoding="utf-8")
    everything = statements.ALL.values()
    kinds = {step.check.kind for statement in everything for step in statement.steps}
    missing = {word for word in kinds | {s.status for s in everything} if f"\n| {word} |" not in page}
    assert missing == set()
