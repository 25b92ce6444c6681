# Every target makes the virtual environment it needs. `make demo` and `make test` are all a newcomer needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

# Small models are fastest on one thread; parallelism is processes.
export OMP_NUM_THREADS := 1

.PHONY: help venv demo browser test lint format bench clean

help:
	@echo "make demo    train on handwritten digits turned by any angle, and draw the result (2 minutes)"
	@echo "make test    the whole test suite"
	@echo "make lint    ruff and mypy"
	@echo "make bench   speed, as ratios against naive code in the same run"
	@echo "make venv    the virtual environment $(VENV) with everything for development"

# torch first and by itself, so that no other package chooses its version.
$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) torch
	$(PIP) --editable .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(PIP) --editable .[dev,track,mesh]
	@touch $@

venv: $(VENV)/installed-dev

demo: $(VENV)/installed
	$(BIN)/scn demo -o runs/demo

# The pages are tested in a real browser, where there is one or root may install it; otherwise they are not.
browser:
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
	  apt-get install --yes --quiet chromium; } || echo "no Chromium: the tests of the pages will be skipped"

test: $(VENV)/installed-dev browser
	$(BIN)/python -m pytest --numprocesses 2

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/installed-dev
	$(BIN)/python benchmarks/core.py
	$(BIN)/python benchmarks/transforms.py
	$(BIN)/python benchmarks/audio.py
	$(BIN)/python benchmarks/solid.py
	$(BIN)/python benchmarks/search.py
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/tasks.py
	$(BIN)/python benchmarks/explorer.py

clean:
	rm -rf $(VENV) runs dist .mypy_cache .ruff_cache .pytest_cache
