# Two commands do everything: `make demo` and `make test`. Each makes its own .venv first; nothing needs root.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
TOOLKIT := .venv-toolkit
BENCHMARKS := compile repository pipe_jobs pipe_reader pipe_views feeder supervisor runtime_cost

.PHONY: help demo test quick explore check golden shapes benchmarks clean

help:
	@echo "make demo        build and run specs/pipe-byo here"
	@echo "make test        the whole test suite"
	@echo "make quick       lint, types, floors, and the tests that your change most likely breaks"
	@echo "make explore     the property tests, with examples that no run has seen"
	@echo "make check       format, lint, types, floors"
	@echo "make golden      rewrite the golden files, then read the diff"
	@echo "make shapes      refresh the pinned API shapes from the installed botocore"
	@echo "make benchmarks  what the README says about speed"

$(BIN)/python:
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "this needs python3 with venv: apt-get install python3-venv" >&2; exit 1; }

$(VENV)/.run: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@$(BIN)/python -m compileall -q compiler runtime schemas
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@$(BIN)/python -m compileall -q compiler runtime schemas
	@touch $@ $(VENV)/.run

demo: $(VENV)/.run
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash docs/demo.sh

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto

quick: $(VENV)/.dev
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash .ci/quick

explore: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto --hypothesis-profile=exploring $$(grep -rl hypothesis tests --include='test_*.py')

check: $(VENV)/.dev
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash .ci/check

golden: $(VENV)/.dev
	@status=0; $(BIN)/python -m pytest tests/golden tests/rejected tests/imported --update || status=$$?; \
	$(BIN)/python docs/spec_reference.py && $(BIN)/python docs/diagnostics.py && git status --short tests docs; exit $$status

shapes: $(VENV)/.dev
	$(BIN)/python -m smspec.service.pin_model

# Peers are installed apart, so that their dependencies do not choose ours. Without them a benchmark names what it leaves out.
$(PEERS)/.ready: tests/benchmarks/peers.txt | $(BIN)/python
	@$(PYTHON) -m venv --clear $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $< || echo "peers are not installed" >&2
	@touch $@

# Alone: what it occupies is counted, too. It has no wheel, a C compiler builds it.
$(TOOLKIT)/.ready: | $(BIN)/python
	@$(PYTHON) -m venv --clear $(TOOLKIT)
	$(TOOLKIT)/bin/python -m pip install --quiet --disable-pip-version-check sagemaker-training==5.1.4 || echo "the toolkit is not installed" >&2
	@touch $@

benchmarks: export SMSPEC_PEERS_PYTHON = $(CURDIR)/$(PEERS)/bin/python
benchmarks: export SMSPEC_TOOLKIT_PYTHON = $(CURDIR)/$(TOOLKIT)/bin/python
benchmarks: export PATH := $(PATH):$(CURDIR)/$(PEERS)/bin
benchmarks: $(VENV)/.dev $(PEERS)/.ready $(TOOLKIT)/.ready
	@for benchmark in $(BENCHMARKS); do \
		printf '\n== %s\n' "$$benchmark"; $(BIN)/python tests/benchmarks/$$benchmark.py || exit; \
	done

clean:
	rm -rf $(VENV) $(PEERS) $(TOOLKIT) build run dist
