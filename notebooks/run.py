"""Execute notebooks and store their outputs: `python notebooks/run.py [NOTEBOOK ...]` (default: all).

Running it twice gives the same bytes. If any cell fails or writes to stderr, nothing at all is stored.
"""

import os
import re
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError

HERE = Path(__file__).parent
# kernels inherit these: set order and sums must not vary from run to run, nor SymPy compute with FLINT, as Arb does
DETERMINISTIC = {
    "PYTHONHASHSEED": "0",
    "OPENBLAS_NUM_THREADS": "1",
    "SYMPY_GROUND_TYPES": "python",
}
NOTEBOOK_METADATA = {
    "kernelspec": {
        "display_name": "Python 3",
        "language": "python",
        "name": "python3",
    },
    "language_info": {"name": "python"},
}
# what a cell may keep: its figure's caption and alt text, and tags; never timings or an editor's state
CELL_METADATA = ("mystnb", "tags")
CELL_TIMEOUT = 120
ANSI_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def normalise(notebook: nbformat.NotebookNode) -> None:
    """Drop the metadata that depends on who runs the notebook."""
    notebook.metadata = nbformat.from_dict(NOTEBOOK_METADATA)
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict(
            {
                k: cell.metadata[k]
                for k in CELL_METADATA
                if k in cell.metadata
            }
        )


def execute(path: Path) -> str:
    """Return the text of the executed notebook; raise if a cell fails or writes to stderr."""
    notebook = nbformat.reads(
        path.read_text(encoding="utf-8"), as_version=4
    )
    normalise(notebook)
    NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(path.parent)}},
    ).execute()
    for number, cell in enumerate(notebook.cells, start=1):
        if cell.cell_type == "code" and cell.execution_count is None:
            raise ValueError(f"cell {number} was not executed")
        for output in cell.get("outputs", ()):
            if output.output_type == "error":  # a tag has let it pass
                raise ValueError(
                    f"cell {number} failed: {output.ename}: {output.evalue}"
                )
            if output.get("name") == "stderr":
                raise ValueError(
                    f"cell {number} wrote to stderr: {output.text.strip()}"
                )
    normalise(notebook)  # the kernel has put its version into the metadata
    nbformat.validate(notebook)
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def main(arguments: list[str]) -> int:
    os.environ.update(DETERMINISTIC)
    paths = [Path(a) for a in arguments] or sorted(HERE.glob("*.ipynb"))
    executed = {}
    for path in paths:
        start = time.perf_counter()
        try:
            executed[path] = execute(path)
        except (
            CellExecutionError,
            CellTimeoutError,
            ValueError,
            OSError,
        ) as error:
            print(
                f"{path}: FAILED\n{ANSI_COLOUR.sub('', str(error))}",
                file=sys.stderr,
            )
        else:
            print(
                f"{path}: executed in {time.perf_counter() - start:.1f} s",
                flush=True,
            )
    if len(executed) < len(paths):
        print(
            f"{len(paths) - len(executed)} of {len(paths)} notebooks failed; nothing stored",
            file=sys.stderr,
        )
        return 1
    for path, text in executed.items():
        path.write_text(text, encoding="utf-8")
    print(f"{len(paths)} notebooks stored")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
