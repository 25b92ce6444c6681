# Every target makes the virtual environment it needs. `make demo` and `make test` are all a newcomer needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

# Small models are fastest on one thread; parallelism is processes.
export OMP_NUM_THREADS := 1

.PHONY: help venv demo system test test-all reproduce-smoke docs lint format bench clean

help:
	@echo "make demo    train on handwritten digits turned by any angle, and draw the result (2 minutes)"
	@echo "make test    every promise of the project, tested in minutes"
	@echo "make test-all the same, and what takes long and adds little"
	@echo "make reproduce-smoke  every figure and table of the paper in small: that all fits together, in minutes"
	@echo "make lint    ruff and mypy"
	@echo "make docs    the documentation, as pages in site/"
	@echo "make bench   speed, as ratios against naive code in the same run"
	@echo "make venv    the virtual environment $(VENV) with everything for development"

# torch first and by itself, so that no other package chooses its version.
$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) torch
	$(PIP) --editable .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(PIP) --editable .[dev,track,mesh,export,ray,sweep,docs]
	@touch $@

venv: $(VENV)/installed-dev

demo: $(VENV)/installed
	$(BIN)/scn demo -o runs/demo

# Tests of the C code, emulated processors, pages and films need these; root installs what is missing, by
# apt. Elsewhere the tests that need them are skipped and say so.
TOOLS := arm-none-eabi-gcc qemu-system-arm riscv64-unknown-elf-gcc qemu-system-riscv32 clang wasm-ld cppcheck chromium \
  ffmpeg
PACKAGES := gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm gcc-riscv64-unknown-elf \
  picolibc-riscv64-unknown-elf qemu-system-misc clang libclang-rt-dev lld cppcheck chromium ffmpeg
system:
	@for tool in $(TOOLS); do command -v $$tool > /dev/null || missing="$$missing $$tool"; done; \
	if [ -n "$$missing" ]; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	    (apt-get update --quiet && apt-get install --yes --quiet --no-install-recommends $(PACKAGES)) > /dev/null \
	      || echo "apt could not install$$missing: the tests that need them will be skipped"; \
	  else echo "without$$missing some tests will be skipped: apt-get install $(PACKAGES)"; fi; fi

# Each file goes to one process as a whole, the longest first: it trains, compiles and opens a browser once.
PYTEST := $(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder

test: $(VENV)/installed-dev system
	$(PYTEST) -m "not slow"

test-all: $(VENV)/installed-dev system
	$(PYTEST)

# Needs the data sets (SCN_DATA_DIR) and the tools of `make system`; a second call trains nothing.
reproduce-smoke: $(VENV)/installed-dev system
	$(BIN)/scn reproduce all --budget smoke -o runs/paper-smoke

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(VENV)/installed-dev
	$(BIN)/python benchmarks/core.py
	$(BIN)/python benchmarks/transforms.py
	$(BIN)/python benchmarks/audio.py
	$(BIN)/python benchmarks/solid.py
	$(BIN)/python benchmarks/search.py
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/tasks.py
	$(BIN)/python benchmarks/together.py
	$(BIN)/python benchmarks/engines.py
	$(BIN)/python benchmarks/device.py
	$(BIN)/python benchmarks/explorer.py

clean:
	rm -rf $(VENV) runs site dist .mypy_cache .ruff_cache .pytest_cache
