PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# A user's site packages and environment must not leak into the project's.
export PYTHONNOUSERSITE := 1
unexport PYTHONPATH

.PHONY: demo test test-fast lint format types docs bench clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[report]'
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@ $(VENV)/.demo

demo: $(VENV)/.demo  ## Score bundled codes, rank bundled language models; write demele-demo.html and demele-compare.html
	$(BIN)/demele score --demo --jobs 2 --format table --report demele-demo.html --force
	$(BIN)/demele compare --demo --format table --report demele-compare.html --force

test: lint types docs test-fast  ## Everything that CI runs

test-fast: $(VENV)/.dev  ## The test suite alone
	$(BIN)/python -m pytest -n 2

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/.dev
	$(BIN)/mypy

docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: $(VENV)/.dev  ## Measure speed and scale; writes benchmarks/results
	$(BIN)/python -m benchmarks.run

clean:
	rm -rf $(VENV) site .mypy_cache .ruff_cache .pytest_cache
