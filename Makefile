# Everything from a bare machine with Python 3.11+ and make; README.md gives the same steps without make.
PYTHON ?= python3
BIN := .venv/bin
# one thread a process: the tests already use both cores, and sums do not depend on the machine
export OPENBLAS_NUM_THREADS ?= 1
export PYTHONHASHSEED ?= 0
# SymPy would compute with FLINT where it is installed, and so share code with Arb, the third kernel
export SYMPY_GROUND_TYPES ?= python
export PIP_DISABLE_PIP_VERSION_CHECK ?= 1

.PHONY: book test coq lint notebooks lock clean

book: .venv/installed
	$(BIN)/ngeodesic reproduce
	$(BIN)/jupyter-book build . -W -n --keep-going --all -q
	$(BIN)/python tests/check_book.py _build/html
	@echo "The book is at _build/html/index.html"

test: .venv/installed lint
	$(BIN)/pytest -n 2 --dist loadfile -q
	@command -v coqc > /dev/null || echo "Coq is not installed: its check of the theorems was skipped (make coq)"

# the theorems of book/coq, checked by Coq; needs the Debian packages coq and libcoq-stdlib
coq: .venv/installed
	$(BIN)/python tests/check_coq.py

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# execute the chapters and store their outputs
notebooks: .venv/installed
	$(BIN)/python notebooks/run.py

.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(None if (3, 11) <= v < (3, 14) else \
	  f"ngeodesic needs Python 3.11, 3.12 or 3.13; $(PYTHON) is {v[0]}.{v[1]}: give another one, make PYTHON=...")'
	@echo "installing into .venv, about two minutes"
	$(PYTHON) -m venv --clear .venv
	$(BIN)/pip install -q -c constraints.txt -e ".[dev]"
	@touch $@

# for maintainers (needs uv): pin everything; torch stays at the version whose CPU build the tests use
lock:
	uv pip compile --universal --extra dev --python-version 3.11 pyproject.toml --no-header --no-annotate --upgrade -o constraints.txt
	echo "torch==2.13.0" >> constraints.txt

clean:
	rm -rf .venv _build build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
