"""The command line: ``ngeodesic reproduce``, ``prove``, ``alphas``, ``cite``; each takes ``--json``.

Exit codes: 0, all is well; 1, a claim or a proof was missed or a checkpoint could not be read; 2, wrong usage
or a missing extra.
With ``--json``, standard output is one strict JSON document: no NaN, no infinity, nothing else.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import signal
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ngeodesic import __version__

_EXTRA = 'pip install "ngeodesic-companion[proofs]"'

try:
    import click
    from rich import box
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text
except ImportError as error:
    # this module is imported only to be run: say what to do, without a traceback
    print(f"ngeodesic: {error.name} is not installed: {_EXTRA}", file=sys.stderr)
    raise SystemExit(2) from None

if TYPE_CHECKING:
    from ngeodesic.checkpoints import AlphaRecord, AlphaSummary
    from ngeodesic.kernels import Checks, Index
    from ngeodesic.ledger import Results
    from ngeodesic.proof import Statement

YEAR = "2026"
BOOK = "ngeodesic: an executable companion to nGPT and SPEL"

_PLOTS = (".png", ".pdf", ".svg")
_INPUTS = (".safetensors", ".pt", ".pth", ".bin", ".json")

# or SymPy would compute with python-flint, where it is installed, as the enclosures do
os.environ.setdefault("SYMPY_GROUND_TYPES", "python")

_json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ngeodesic")
def commands() -> None:
    """The companion to nGPT and SPEL: recompute its numbers, check its proofs, cite its statements, read the
    alphas of a trained nGPT.

    Exit codes: 0 all is well, 1 a claim or a proof was missed or a checkpoint could not be read, 2 wrong
    usage or a missing extra.
    """


@commands.command()
@click.option("--statement", metavar="ID", help="Only the claims of this statement, such as ng-bisector.")
@_json_option
def reproduce(statement: str | None, as_json: bool) -> None:
    """Recompute every number of the ledger, by two routes.

    The error bound is how far the two routes may differ.

    \b
    With --json, a list of objects:
      id, statement       the claim, and the statement it belongs to
      says, kind          in words; "value" or "bound" (ours may not exceed it)
      paper, unit         the number as printed in the source (text); "1": none
      here                our number (null if it is not finite)
      tolerance           how far "here" may be from "paper"
      tolerance_reason    why
      verdict, why        "reproduced" or "missed"; if missed, why
      source, place       note, book, ngpt or spel; where in it
      call                the expression that gives "here"
      independent         the second route's expression (mpmath, 50 digits)
      independent_says    the same in words
      independent_value   what it gives
      accuracy            how far the two may differ
    """
    with _needs_extra():
        from ngeodesic import ledger
    try:
        results = ledger.reproduce(statement=statement)
    except ledger.LedgerError as error:
        raise click.ClickException(str(error)) from error
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if as_json:
        _print_json([r.record() for r in results])
    else:
        _print_results(results)
    sys.exit(0 if results.ok else 1)


@commands.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@_json_option
def prove(ids: tuple[str, ...], as_json: bool) -> None:
    """Check the proofs of the statements ID, or of all, by SymPy, and their numbers and inequalities by Arb.

    Coq's theorems are listed where the folder book/coq is; `make coq` has them checked.

    \b
    With --json, a list of objects:
      id, title, chapter  the statement, and the notebook that proves it
      claim, hypotheses   in words
      paper, status       where the source says it; kind of proof
      uses                the ids that the proof rests on
      proved              true or false
      seconds             time taken
      steps               a list of: label, says, kind, verdict, detail, and
                          twin_refuted (null for a step by hand)
      kernels             SymPy, Coq, Arb: whether and what it checks, what it
                          leaves out
    """
    with _needs_extra():
        from ngeodesic import kernels, ledger, proof
    reports = []
    with _progress() as show:
        for statement in _chosen(ids):
            show(f"checking {statement.id}")
            reports.append(proof.prove(statement))
        show("checking numbers and inequalities")
        try:
            index = kernels.check_all(reports)
        except (kernels.KernelError, ledger.LedgerError) as error:
            raise click.ClickException(str(error)) from error
    if as_json:
        _print_json([_checks_record(c) for c in index])
    else:
        _print_checks(index)
    sys.exit(0 if index.ok else 1)


@commands.command()
@click.argument("path")
@click.option("--family", metavar="NAME", default="auto", help="The model's code; else told by its tensors.")
@click.option("--init-value", type=float, metavar="X", help="alpha = stored * X / Y.")
@click.option("--init-scaling", "--base-scale", type=float, metavar="Y", help="alpha = stored * X / Y.")
@click.option("--depth", type=int, metavar="N", help="Layers the model was built with (lucidrains: X = 1/N).")
@click.option("--signed/--absolute", default=None, help="Use alpha, or |alpha|; else as the family does.")
@click.option("--theta", type=float, default=90.0, metavar="DEG", help="Angle of the second prediction.")
@click.option("--csv", "csv_file", metavar="FILE", help="Write the table as CSV.")
@click.option("--plot", "plot_file", metavar="FILE", help="Draw the alphas of each layer (png, pdf, svg).")
@click.option("--follow-links", is_flag=True, help="Follow links out of the directory (Hugging Face caches).")
@_json_option
def alphas(
    path: str,
    family: str,
    init_value: float | None,
    init_scaling: float | None,
    depth: int | None,
    signed: bool | None,
    theta: float,
    csv_file: str | None,
    plot_file: str | None,
    follow_links: bool,
    as_json: bool,
) -> None:
    """Summarise the alphas of a trained nGPT: its checkpoint or directory PATH.

    PATH is a .safetensors, .pt, .pth or .bin file, an .index.json, or a directory that holds one of these
    beside the files that an index lists. Only the alphas are read. Off-plane is the norm that the law
    ng-off-plane predicts for a step with these alphas.

    A checkpoint stores numbers from which the model's code makes alpha, often |stored * X / Y|. The rule
    depends on the family of the code: nvidia, lm-engine, olmo-core, hf, megatron, lucidrains, or other, for
    which X, Y and the sign must be given.

    A block that the checkpoint lacks, of a layer below its highest, is named under the table: the checkpoint
    may be a part of a model. The std of a constant alpha is 0.

    \b
    With --json, a list of objects (--csv FILE: the same as columns):
      layer, block        "attention" or "mlp"
      tensor, dim         its name in the file, its length
      mean, std, cv       std with ddof 0; cv = std/mean, null if undefined
      off_plane_90        predicted off-plane norm at theta = 90 degrees
      theta, off_plane    the same at --theta, in degrees
      rule                how alpha was made from the stored numbers
      missing             blocks the checkpoint lacks, in every row the same:
                          null, or such as "attention 3, 5-7; mlp 3"
    """
    from ngeodesic import checkpoints

    theta += 0.0  # no -0
    suffix = Path(plot_file).suffix.lower() if plot_file else ""
    if plot_file and suffix not in _PLOTS:
        raise click.UsageError(f"--plot must end in {', '.join(_PLOTS)}: got {plot_file!r}")
    if not 0 <= theta <= 180:
        raise click.UsageError(f"--theta must lie in 0 to 180 degrees: got {theta!r}")
    outputs = {"--csv": csv_file, "--plot": plot_file}
    _check_outputs(path, outputs)
    files: list[Path] = []
    if as_json and csv_file and _standard(csv_file) == 1:
        raise click.UsageError("--csv would write to standard output, which --json fills")
    try:
        with _progress() as show:
            records = checkpoints.read_alphas(
                path,
                family=family,
                depth=depth,
                init_value=init_value,
                init_scaling=init_scaling,
                signed=signed,
                follow_links=follow_links,
                progress=show,
                on_file=files.append,
            )
    except checkpoints.CheckpointError as error:
        raise click.ClickException(str(error)) from error
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    _check_inputs(files, outputs)
    try:
        plot = _alpha_plot(records, suffix.removeprefix(".")) if plot_file else b""
    except ImportError as error:
        # the modules that an extra brings say which; more than their word would be a traceback
        click.echo(f"ngeodesic: {error}", err=True)
        sys.exit(2)
    summaries = checkpoints.summarize(records, theta=math.radians(theta))
    missing = checkpoints.missing_blocks(records)
    rows = [_alpha_record(r, s, theta, missing) for r, s in zip(records, summaries, strict=True)]
    _write([(name, data) for name, data in ((csv_file, _as_csv(rows)), (plot_file, plot)) if name])
    if as_json:
        _print_json(rows)
    else:
        _print_alphas(rows, theta)


@commands.command()
@click.argument("ids", nargs=-1, metavar="[ID]")
@_json_option
def cite(ids: tuple[str, ...], as_json: bool) -> None:
    """Give the BibTeX entry, the page and the anchor of statement ID; without ID, list the statements.

    \b
    With --json, a list of objects:
      id, title, claim    the statement
      status              kind of proof
      page, anchor        in the built book: page#anchor is the link
      uses, used_by       the ids it rests on, and that rest on it
      bibtex              the entry
    """
    chosen = _chosen(ids)
    records = [_cite_record(s) for s in chosen]
    if as_json:
        _print_json(records)
    elif not ids:
        table = _table("id and anchor", "page", "title")
        for r in records:
            table.add_row(r["id"], r["page"], r["title"])
        _console().print(table)
    else:
        for r in records:
            click.echo(f"{r['bibtex']}\n\npage: {r['page']}\nanchor: #{r['anchor']}")


def main() -> None:
    """Run the command line."""
    # `ngeodesic prove | head -1` ends like any program whose reader has left, not with exit code 1: a miss
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if isinstance(sys.stdout, io.TextIOWrapper):  # an encoding that lacks a character gets its code
        sys.stdout.reconfigure(errors="backslashreplace")
    elif sys.stdout is None:
        print("ngeodesic: standard output is closed", file=sys.stderr)
        raise SystemExit(1)
    try:
        try:
            commands(prog_name="ngeodesic")
        finally:
            sys.stdout.flush()
    except OSError as error:
        if error.filename is not None:
            raise
        print(f"ngeodesic: standard output: {error.strerror}", file=sys.stderr)
        os._exit(1)  # Python would try to write the rest again


@contextmanager
def _needs_extra() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        if error.name is None or error.name.split(".")[0] not in ("flint", "mpmath", "sympy", "yaml"):
            raise
        click.echo(f"ngeodesic: {error.name} is not installed: {_EXTRA}", err=True)
        sys.exit(2)


def _chosen(ids: tuple[str, ...]) -> list[Statement]:
    with _needs_extra():
        from ngeodesic import statements
    try:
        return [statements.get(i) for i in dict.fromkeys(ids)] or list(statements.ALL.values())
    except ValueError as error:
        raise click.UsageError(str(error)) from error


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """A line on standard error that says what is going on, if someone looks at it."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda text: None
        return
    with console.status("") as status:
        yield lambda text: status.update(Text(text))


def _print_json(records: list[dict[str, Any]]) -> None:
    click.echo(json.dumps(records, indent=2, allow_nan=False))


def _console() -> Console:
    # the texts are plain: brackets and colons in them are not markup
    console = Console(markup=False, emoji=False, highlight=False)
    console.width = max(console.width, 40)  # narrower, words and numbers fall apart; of 0, nothing is shown
    return console


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for i, column in enumerate(columns):
        table.add_column(column, overflow="fold", no_wrap=i == 0)
    return table


def _verdict(text: str, good: bool) -> Text:
    return Text(text, style="green" if good else "bold red")


def _print_results(results: Results) -> None:
    _console().print(str(results), soft_wrap=True)  # lines run over: no number falls apart


def _print_checks(index: Index) -> None:
    console = _console()
    for checks in index:
        s, report = checks.statement, checks.report
        console.print(f"{s.id}: {s.title}", style="bold")
        for line in (s.claim, "hypotheses:", *(f"- {hypothesis}" for hypothesis in s.hypotheses)):
            console.print(Padding(line, (0, 0, 0, 2)))
        table = _table("step", "kind of check", "verdict", "false twin")
        for row in report.rows:
            table.add_row(
                row.step.label,
                row.certificate.kind,
                _verdict(row.certificate.verdict, row.certificate.ok),
                _verdict(row.twin_verdict, row.ok),
            )
        console.print(table)
        for row in report.rows:
            if not row.ok:
                console.print(f"  {row.step.label}: {row.certificate}; twin: {row.twin}", style="bold red")
        outcome = s.status if report.proved else "NOT PROVED"
        console.print(Text("  ").append(_verdict(outcome, report.proved)))
        others = "; ".join(f"{kernel}: {words}" for kernel, words in checks.says.items() if kernel != "SymPy")
        console.print(f"  {others}\n")
    reports = [checks.report for checks in index]
    proved, seconds = sum(r.proved for r in reports), sum(r.seconds for r in reports)
    console.print(f"{proved} of {len(reports)} statements proved in {seconds:.1f} s; {index.summary}")


def _checks_record(checks: Checks) -> dict[str, Any]:
    s, report = checks.statement, checks.report
    return {
        "id": s.id,
        "title": s.title,
        "chapter": s.chapter,
        "claim": s.claim,
        "hypotheses": list(s.hypotheses),
        "paper": s.paper,
        "status": s.status,
        "uses": list(s.uses),
        "proved": report.proved,
        "seconds": round(report.seconds, 3),
        "steps": [
            {
                "label": row.step.label,
                "says": row.step.says,
                "kind": row.certificate.kind,
                "verdict": row.certificate.verdict,
                "detail": row.certificate.detail,
                "twin_refuted": None if row.twin is None else row.twin.refuted,
            }
            for row in report.rows
        ],
        "kernels": checks.record(),
    }


def _alpha_record(record: AlphaRecord, summary: AlphaSummary, theta: float, missing: str) -> dict[str, Any]:
    def known(value: float) -> float | None:
        return value if math.isfinite(value) else None

    return {
        "layer": record.layer,
        "block": record.block,
        "tensor": record.name,
        "dim": summary.dim,
        "mean": known(summary.mean),
        "std": known(summary.std),
        "cv": known(summary.cv),
        "off_plane_90": known(summary.off_plane_90),
        "theta": theta,
        "off_plane": known(summary.off_plane),
        "rule": record.rule,
        "missing": missing or None,
    }


def _print_alphas(rows: list[dict[str, Any]], theta: float) -> None:
    columns = {"mean": "mean", "std": "std", "cv": "std/mean", "off_plane_90": "off-plane 90°"}
    if theta != 90:
        columns["off_plane"] = f"{theta:g}°"
    rules = {rule: str(i) for i, rule in enumerate(dict.fromkeys(row["rule"] for row in rows), 1)}
    which = ["rule"] if len(rules) > 1 else []
    table = [["layer", "block", "d", *columns.values(), *which]]
    for row in rows:
        numbers = ("undefined" if row[key] is None else f"{row[key]:#.4g}" for key in columns)
        rule = [rules[row["rule"]]] if which else []
        table.append([str(row["layer"]), row["block"], str(row["dim"]), *numbers, *rule])
    # in plain text, so that no width of a terminal wraps or drops a number
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    form = "  ".join(f"{{:{'<' if i == 1 else '>'}{width}}}" for i, width in enumerate(widths))
    head, *lines = (form.format(*row) for row in table)
    print(head, "-" * len(head), *lines, sep="\n")
    console = _console()
    if rows[0]["missing"]:
        console.print(f"\nnot in the checkpoint, by layer: {rows[0]['missing']}")
    for rule, i in rules.items():
        console.print(f"\nrule {i}: {rule}" if which else f"\nrule: {rule}")


def _as_csv(rows: list[dict[str, Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _alpha_plot(records: list[AlphaRecord], kind: str) -> bytes:
    """A picture of the alphas of each layer: the median, and the bands of half and nine tenths of them."""
    import numpy as np

    from ngeodesic import figures

    if max(float(np.max(np.abs(record.alpha))) for record in records) > 1e300:
        raise click.ClickException("--plot: alphas above 1e300 cannot be drawn")
    blocks = list(dict.fromkeys(record.block for record in records))
    with figures.style():
        figure = figures.BookFigure(figsize=(figures.WIDTH, 0.6 + 2.2 * len(blocks)), layout="constrained")
        axes = figure.subplots(len(blocks), squeeze=False, sharex=True, sharey=True)[:, 0]
        for ax, block in zip(axes, blocks, strict=True):
            mine = [record for record in records if record.block == block]
            layers = [record.layer for record in mine]
            low, left, middle, right, high = np.transpose(
                [np.percentile(record.alpha, [5, 25, 50, 75, 95]) for record in mine]
            )
            ax.vlines(layers, low, high, color=figures.FAINT, lw=6)
            ax.vlines(layers, left, right, color=figures.MUTED, lw=6)
            ax.plot(layers, middle, "o", color=figures.INK, ms=4)
            ax.set_title(f"{block}: median, middle half, middle 90 %", loc="left")
            ax.set_ylabel("alpha")
        axes[-1].set_xlabel("layer")
        axes[-1].xaxis.get_major_locator().set_params(integer=True)
        buffer = io.BytesIO()
        figure.savefig(buffer, format=kind, dpi=figure.dpi)
    return buffer.getvalue()


def _check_outputs(source: str, outputs: dict[str, str | None]) -> None:
    """Refuse outputs that would overwrite a checkpoint or each other, or that cannot be made."""
    taken: dict[str, str] = {}
    for option, name in outputs.items():
        if name is None:
            continue
        if not name or "\0" in name:
            raise click.UsageError(f"{option} must be the name of a file: got {name!r}")
        try:
            place = os.path.realpath(name)
        except OSError as error:  # the current directory has been removed
            raise click.ClickException(f"{option}: {name!r}: {error.strerror}") from error
        if place == os.path.realpath(source) or name.endswith(_INPUTS) or place.endswith(_INPUTS):
            raise click.UsageError(
                f"{option} would overwrite the checkpoint, or what looks like one: {name!r}"
            )
        if place in taken:
            raise click.UsageError(f"{option} would overwrite the file of {taken[place]}: {name!r}")
        taken[place] = option
        if os.path.isdir(place) or not os.path.isdir(os.path.dirname(place)):
            raise click.ClickException(f"{option}: {name!r} is a directory, or its directory does not exist")


def _standard(name: str) -> int | None:
    """The stream, 1 or 2, that a name such as /dev/stdout stands for, even if a file takes what it gets."""
    for stream in (1, 2):
        with suppress(OSError):
            if os.path.samestat(os.stat(name), os.fstat(stream)):
                return stream
    return None


def _check_inputs(files: list[Path], outputs: dict[str, str | None]) -> None:
    """Refuse outputs that would overwrite one of these files, by whatever name."""
    for option, name in outputs.items():
        for file in files if name else []:
            with suppress(OSError):  # one of the two does not exist
                if os.path.samefile(file, str(name)):
                    raise click.UsageError(f"{option} would overwrite {str(file)!r}, which is read: {name!r}")


def _write(outputs: list[tuple[str, bytes]]) -> None:
    """Write files, each whole or not at all, and none before all are made; streams get their data first."""
    made: list[tuple[str, str]] = []
    name = ""
    try:
        for name, data in outputs:
            if _direct(name) is None:
                place = os.path.realpath(name)
                mode = stat.S_IMODE(os.stat(place).st_mode) if os.path.exists(place) else 0o666 & ~_umask()
                handle, draft = tempfile.mkstemp(dir=os.path.dirname(place), prefix=".ngeodesic-")
                made.append((draft, place))
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                os.chmod(draft, mode)
        for name, data in outputs:
            target = _direct(name)
            if target is not None:
                with open(target, "wb", closefd=isinstance(target, str)) as file:
                    file.write(data)
        for draft, place in made:
            os.replace(draft, place)
    except OSError as error:
        raise click.ClickException(f"{error.filename2 or name!r}: {error.strerror}") from error
    finally:
        for draft, _ in made:
            with suppress(OSError):  # it has its place
                os.unlink(draft)


def _direct(name: str) -> int | str | None:
    """What to write to as it is: a standard stream, a pipe, a device; None for a file."""
    stream = _standard(name)
    return name if stream is None and os.path.exists(name) and not os.path.isfile(name) else stream


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _cite_record(statement: Statement) -> dict[str, Any]:
    from ngeodesic import statements

    page = f"notebooks/{statement.chapter}.html"
    return {
        "id": statement.id,
        "title": statement.title,
        "claim": statement.claim,
        "status": statement.status,
        "page": page,
        "anchor": statement.id,
        "uses": list(statement.uses),
        "used_by": [s.id for s in statements.ALL.values() if statement.id in s.uses],
        "bibtex": bibtex(statement),
    }


def bibtex(statement: Statement) -> str:
    """The BibTeX entry of one statement; the version and the anchor say exactly what is meant."""
    page = f"notebooks/{statement.chapter}.html"
    fields = {
        "title": f"{{{_tex(statement.title)}}}",
        "author": "{The ngeodesic authors}",
        "year": YEAR,
        "howpublished": f"In ``{_tex(BOOK)}''",
        "note": f"Statement {statement.id}, version {__version__}; page {_tex(page)}, anchor {statement.id}",
    }
    lines = ",\n".join(f"  {name:<12} = {{{value}}}" for name, value in fields.items())
    return f"@misc{{{statement.id},\n{lines}\n}}"


def _tex(text: str) -> str:
    return "".join(f"\\{c}" if c in "&%$#_{}" else c for c in text)


if __name__ == "__main__":
    main()
