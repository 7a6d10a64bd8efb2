PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Of the oldest versions that demele promises to run with.
OLDEST := .venv-oldest
# A user's site packages and environment must not leak into the project's.
export PYTHONNOUSERSITE := 1
unexport PYTHONPATH

.PHONY: demo demo-score demo-compare demo-vae gallery test test-short test-long test-oldest test-oldest-short lint format types docs bench fuzz clean

# Says what is missing on the machine, before half an environment is made that the next call would trust.
define check_python
	@$(PYTHON) -c '' || { echo "make: there is no '$(PYTHON)': install Python 3.11 or later, or say where it is: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: demele needs Python 3.11 or later, and '$(PYTHON)' is $$($(PYTHON) -V); say where a later one is: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' || { echo "make: '$(PYTHON)' cannot make virtual environments: install what is missing, on Debian and Ubuntu with  apt install python3-venv" >&2; exit 1; }
endef

$(BIN)/python:
	$(check_python)
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(VENV)/.demo: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@ $(VENV)/.demo $(VENV)/.demo-vae

demo: demo-score demo-compare  ## Score bundled codes, rank bundled language models; write demele-demo.html and demele-compare.html

demo-score: $(VENV)/.demo  ## Score bundled codes; write demele-demo.html
	$(BIN)/demele demo score --jobs 2 -o demele-demo.html --force

demo-compare: $(VENV)/.demo  ## Rank bundled language models; write demele-compare.html
	$(BIN)/demele demo compare -o demele-compare.html --force

# PyTorch is a download of its own: only this needs it.
$(VENV)/.demo-vae: $(VENV)/.demo
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[torch,images]'
	touch $@

demo-vae: $(VENV)/.demo-vae  ## Train a small VAE on drawn sprites, less than a minute; write demele-vae.html
	$(BIN)/demele lab vae train sprites --image-size 16 --network mlp --latents 6 --beta 0.6 --lr 0.002 --batch 64 --steps 3000 --format table --checkpoint demele-vae.run
	$(BIN)/demele lab vae report demele-vae.run sprites --image-size 16 -o demele-vae.html --force

test: lint types docs test-short  ## Everything that CI runs

test-short: $(VENV)/.dev  ## The tests that find most faults in little time
	$(BIN)/python -m pytest -n 2 -m "not long"

test-long: $(VENV)/.dev  ## The others, before a release: browsers, other interpreters, clusters, kills, pages that are run, simulations
	$(BIN)/python -m pytest -n 2 -m long

# The wheels of these releases are for Python 3.11.
$(OLDEST)/bin/python:
	$(check_python)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || { echo "make: the oldest versions have wheels for Python 3.11 only: make $(MAKECMDGOALS) PYTHON=python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(OLDEST) || { rm -rf $(OLDEST); exit 1; }

OLDEST_INSTALL = $(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints-oldest.txt
OLDEST_TOOLS = hypothesis krippendorff packaging polars pytest pytest-timeout pytest-xdist statsmodels

$(OLDEST)/.short: pyproject.toml constraints-oldest.txt | $(OLDEST)/bin/python
	$(OLDEST_INSTALL) --editable '.[parquet,cleaning,pictures,dask]' $(OLDEST_TOOLS)
	touch $@

$(OLDEST)/.all: pyproject.toml constraints-oldest.txt | $(OLDEST)/bin/python
	$(OLDEST_INSTALL) --editable '.[all]' $(OLDEST_TOOLS)
	touch $@ $(OLDEST)/.short

# tests/docs: pages print what the versions of constraints.txt print; test_pins.py: of those versions.
OLDEST_PYTEST = $(OLDEST)/bin/python -m pytest -n 2 --ignore tests/docs --ignore tests/install/test_pins.py

test-oldest: $(OLDEST)/.all  ## The test suite with the oldest versions of everything that demele needs
	$(OLDEST_PYTEST)

# What touches other packages: data frames, sparse codes, files, predictors, plots.
test-oldest-short: $(OLDEST)/.short
	$(OLDEST_PYTEST) tests/architecture tests/cli tests/core tests/data tests/estimation tests/files tests/install tests/metrics tests/reference tests/scoring

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/.dev
	$(BIN)/mypy

docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

gallery: $(VENV)/.demo-vae $(VENV)/.dev  ## Write the pages of the gallery and their pictures; needs Chromium
	$(BIN)/python -m tools.make_gallery

bench: $(VENV)/.dev  ## Measure speed and scale; writes benchmarks/results
	for name in time_metrics time_sparse time_streaming time_fabrics causes; do $(BIN)/python -m benchmarks.$$name || exit 1; done

fuzz: $(VENV)/.dev  ## Read hostile inputs for an hour; keeps what breaks a promise in fuzz-found
	$(BIN)/python -m tests.fuzz --minutes $(or $(MINUTES),60)

clean:
	rm -rf $(VENV) $(OLDEST) site .mypy_cache .ruff_cache .pytest_cache
