"""Check the theorems of book/coq with Coq: `python tests/check_coq.py`; exit 1 and say why if one fails.

Compiles the files into `_build/coq`, prints the axioms that each theorem rests on, and has `coqchk` read
everything again from the compiled files, without the tactics, the standard library too. It uses the kernel's
own code for types and conversion, so it is no independent second checker.
"""

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from ngeodesic.kernels import coq_files, coq_theorems

BUILD = Path(__file__).parent.parent / "_build" / "coq"
INSTALL = "apt-get install -y --no-install-recommends coq libcoq-stdlib"

# What Coq's own real numbers rest on, and its classical logic. No axiom of ours.
ALLOWED = {
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}
# what would let a file claim something without a proof, or weaken the checker
FORBIDDEN = re.compile(
    r"\b(Admitted|admit|give_up|Axioms?|Parameters?|Conjecture|Abort|Unset|bypass_check|Declare)\b"
    r"|Type In Type|type_in_type"
)


class CoqError(Exception):
    """A file does not compile, or a theorem rests on more than it may."""


def run(build: Path, *command: str | Path) -> str:
    """The output of a command that runs in the folder `build`, coqchk's summary on stderr included."""
    result = subprocess.run(
        [str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=build
    )
    if result.returncode:
        raise CoqError(f"{command[0]} failed:\n{result.stdout}")
    return result.stdout


def coqc(build: Path, *arguments: str | Path) -> str:
    return run(build, "coqc", "-Q", ".", "Ngeodesic", *arguments)


def forbidden(text: str) -> list[str]:
    """The forbidden words of a file, its comments aside."""
    return [match[0] for match in FORBIDDEN.finditer(re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL))]


def compile_files(files: list[Path], build: Path) -> None:
    """Compile the files, in this order, into the folder `build`."""
    build.mkdir(parents=True, exist_ok=True)
    for path in files:
        if words := forbidden(path.read_text(encoding="utf-8")):
            raise CoqError(f"{path.name} has {', '.join(words)}")
        coqc(build, path, "-o", f"{path.stem}.vo")


def assumptions(names: list[str], modules: list[str], build: Path) -> dict[str, set[str]]:
    """The axioms on which each of these theorems rests, as Coq prints them."""
    (build / "Assumptions.v").write_text(
        f"From Ngeodesic Require Import {' '.join(modules)}.\n"
        + "".join(f"Print Assumptions {name}.\n" for name in names)
    )
    printed = coqc(build, "Assumptions.v")
    answers = re.split(r"^(?:Axioms:|Closed under the global context)$", printed, flags=re.MULTILINE)[1:]
    return {
        name: set(re.findall(r"^(\S+)(?=\s*:)", answer, flags=re.MULTILINE))
        for name, answer in zip(names, answers, strict=True)
    }


def recheck(modules: list[str], build: Path) -> set[str]:
    """Have coqchk check the compiled files and all they need; the axioms in its context."""
    names = (f"Ngeodesic.{module}" for module in modules)
    printed = run(build, "coqchk", "-silent", "-o", "-Q", ".", "Ngeodesic", *names)
    summary = dict(re.findall(r"^\* ([^:\n]+):(.*?)(?=^\*|\Z)", printed, flags=re.MULTILINE | re.DOTALL))
    for weak in (
        "Constants/Inductives relying on type-in-type",
        "Constants/Inductives relying on unsafe (co)fixpoints",
        "Inductives whose positivity is assumed",
    ):
        if summary[weak].strip() != "<none>":
            raise CoqError(f"coqchk: {weak}: {summary[weak].strip()}")
    return {".".join(name.split(".")[-2:]) for name in summary["Axioms"].split()}


def main() -> None:
    if not shutil.which("coqc"):
        sys.exit(f"Coq is not installed: {INSTALL}")
    modules = [path.stem for path in coq_files()]
    start = time.perf_counter()
    compile_files(coq_files(), BUILD)
    print(coqc(BUILD, "--version").splitlines()[0])
    print(f"{len(modules)} files compiled in {time.perf_counter() - start:.1f} s")

    names = [theorem.name for theorems in coq_theorems().values() for theorem in theorems]
    used = assumptions(names, modules, BUILD)
    for name, axioms in used.items():
        print(f"{name:32}{', '.join(sorted(axiom.split('.')[-1] for axiom in axioms)) or 'no axiom'}")
        if axioms - ALLOWED:
            raise CoqError(f"{name} rests on {', '.join(sorted(axioms - ALLOWED))}")

    start = time.perf_counter()
    if more := recheck(modules, BUILD) - ALLOWED:
        raise CoqError(f"coqchk finds the axioms {', '.join(sorted(more))}")
    print(f"coqchk: no fault, and no other axiom, in {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    try:
        main()
    except CoqError as error:
        sys.exit(str(error))
