# Two commands do everything on a machine with Python 3.11+ and git:
#   make demo   set up a private environment, run the story on bundled data
#   make test   the same for the checks and tests
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: demo test check bench docs clean

demo: $(VENV)/.ready
	@$(BIN)/githarness demo

test: check
	$(BIN)/python -m pytest

check: $(VENV)/.ready-test
	$(BIN)/ruff check githarness tests benchmarks
	$(BIN)/mypy

bench: $(VENV)/.ready-test
	$(BIN)/python benchmarks/run.py

docs: $(VENV)/.ready
	$(BIN)/python -m githarness.cli_reference > docs/cli.md

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "githarness needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.ready-test: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache
