"""The Coq theorems: named after statements of the book, without holes, and false twins do not pass."""

import re
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest
from check_coq import ALLOWED, INSTALL, CoqError, assumptions, compile_files, coqc, forbidden
from coq_mutants import MUTANTS

from ngeodesic import statements
from ngeodesic.kernels import COQ_FOLDER, coq_files, coq_theorems

needs_coq = pytest.mark.skipif(not shutil.which("coqc"), reason=f"no Coq: {INSTALL}")

THEOREMS = {theorem.name: theorem for theorems in coq_theorems().values() for theorem in theorems}
SPHERE = [id for id, statement in statements.ALL.items() if statement.chapter in (
    "angle_law", "triple_zero", "bisector", "cubic_law", "contraction", "per_dimension"
)]  # fmt: skip


def test_every_statement_about_the_sphere_has_its_theorem():
    assert [id for id in coq_theorems() if id in SPHERE] == SPHERE


def test_every_theorem_is_named_after_its_statement():
    for id, theorems in coq_theorems().items():
        assert id in statements.ALL
        assert id.replace("-", "_") in {theorem.name for theorem in theorems}
        assert all(theorem.name.startswith(id.replace("-", "_")) for theorem in theorems)


def test_no_theorem_and_no_file_is_overlooked():
    assert {path.name for path in coq_files()} == {path.name for path in COQ_FOLDER.glob("*.v")}
    for path in coq_files():
        text = path.read_text()
        named = re.findall(r"^\s*(?:Theorem|Lemma|Corollary|Fact|Proposition) (ng_\w+)", text, re.MULTILINE)
        assert named == [name for name, theorem in THEOREMS.items() if theorem.file == path.name]
        for id in re.findall(r"ng-[a-z-]+[a-z]", text):
            assert id in statements.ALL


def test_a_theorem_is_found_with_its_words_its_text_and_its_line():
    theorem = THEOREMS["ng_bisector"]
    assert theorem.words.startswith("phi(1/2, theta) = theta/2 for every real theta")
    assert theorem.statement == "Theorem ng_bisector (theta : R) : phi (1 / 2) theta = theta / 2."
    line = (COQ_FOLDER / theorem.file).read_text().split("\n")[theorem.line - 1]
    assert line == theorem.statement


def test_without_the_folder_there_are_no_theorems(tmp_path):
    assert coq_theorems(tmp_path / "absent") == {}


def test_no_file_has_a_hole_or_an_axiom():
    for path in coq_files():
        assert forbidden(path.read_text()) == []


@pytest.mark.parametrize(
    "text",
    [
        "Proof. Admitted.",
        "Proof. admit.",
        "Axiom easy : 0 = 1.",
        "Parameters x y : R.",
        "Unset Guard Checking.",
        "#[bypass_check(guard)] Fixpoint f (n : nat) : nat := f n.",
    ],
)
def test_holes_and_axioms_are_found(text):
    assert forbidden(text)
    assert not forbidden(f"(* {text} *) Lemma admitted_by_lra : True.")


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    folder = tmp_path_factory.mktemp("coq")
    compile_files(coq_files(), folder)
    return folder


@needs_coq
def test_the_theorems_rest_on_the_axioms_of_the_real_numbers_only(build):
    modules = " ".join(path.stem for path in coq_files())
    (build / "All.v").write_text(
        f"From Ngeodesic Require Import {modules}.\nDefinition all := ({', '.join(THEOREMS)}).\n"
    )
    coqc(build, "All.v")
    assert assumptions(["all"], ["All"], build) == {"all": ALLOWED}


@needs_coq
def test_an_axiom_of_ours_would_be_found(build):
    (build / "Planted.v").write_text(
        "Axiom easy : 0 = 1.\nTheorem planted : 1 = 0.\nProof. symmetry. exact easy. Qed.\n"
    )
    coqc(build, "Planted.v")
    assert assumptions(["planted"], ["Planted"], build) == {"planted": {"easy"}}


def twin(build, name, statement):
    """Compile a theorem with this statement and its own proof; where and why it fails, "" if it does not."""
    theorem = THEOREMS[name]
    before, after = (COQ_FOLDER / theorem.file).read_text().split(theorem.statement)
    imports = "".join(re.findall(r"^From .*\n", before, re.MULTILINE))
    module = theorem.file.removesuffix(".v")
    head = f"{imports}From Ngeodesic Require Import {module}.\nOpen Scope R_scope.\n{statement}"
    file = build / f"Twin_{abs(hash(statement))}.v"
    file.write_text(head + after[: after.index("Qed.") + len("Qed.")] + "\n")
    try:
        coqc(build, file)
    except CoqError as error:
        line = int(re.search(r"line (\d+), characters", str(error))[1])
        return f"{'in' if line > head.count(chr(10)) + 1 else 'before'} the proof: {error}"
    return ""


@needs_coq
def test_no_false_twin_passes_the_proof_of_its_theorem(build):
    assert {mutant.theorem for mutant in MUTANTS} == set(THEOREMS)

    def check(mutant):
        statement = THEOREMS[mutant.theorem].statement
        assert statement.count(mutant.old) == 1, mutant
        error = twin(build, mutant.theorem, statement.replace(mutant.old, mutant.new))
        # a twin that is no statement at all would fail before its proof
        assert error.startswith("in "), f"{mutant}: {error or 'compiles'}"

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(check, MUTANTS))


@needs_coq
@pytest.mark.parametrize("id", coq_theorems())
def test_the_theorem_itself_passes_in_the_same_way(build, id):
    name = id.replace("-", "_")
    assert twin(build, name, THEOREMS[name].statement) == ""
