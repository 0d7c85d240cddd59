# `make demo` and `make test` are the two main commands. Each creates .venv first; nothing needs root.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
TOOLKIT := .venv-toolkit
SITE := .venv-site
REV ?= HEAD
SOURCES ?= .venv/sources
# With it, every process of the tests would compile what it imports.
unexport PYTHONDONTWRITEBYTECODE
ifdef QUICK
# The rows of docs/evidence.md alone, each with few turns: two minutes.
BENCHMARKS := compile runtime_cost repository pipe_jobs
compile_words := 5
runtime_cost_words := --rounds 5
repository_words := 1000 1
pipe_jobs_words := run --megabytes 256 --pairs 3
else
BENCHMARKS := compile repository pipe_jobs pipe_reader pipe_views feeder supervisor runtime_cost local_run rehearsal prediction
endif

.PHONY: help demo test test-all test-containers quick explore check golden frozen templates shapes facts dev-lock docs site hash-locks benchmarks clean

help:
	@echo "make demo        build and run specs/pipe-byo on this machine"
	@echo "make test        run the test suite, with a sample of its costly cases"
	@echo "make test-all    run the whole test suite"
	@echo "make test-containers  run the tests that start containers, with the Docker engine of this machine"
	@echo "make quick       check lint, types, and imports, and run the tests that your change most likely breaks"
	@echo "make explore     run the property tests with new random examples"
	@echo "make check       check format, lint, types, and imports"
	@echo "make docs        build the site in build/site, check its links and anchors, and run the commands of its pages"
	@echo "make golden      rewrite the golden files; review the diff"
	@echo "make frozen      compare all outputs with those of REV (default: HEAD)"
	@echo "make templates   write the functions that fill the templates"
	@echo "make shapes      refresh the pinned API shapes from the installed botocore"
	@echo "make facts       refresh the tables of facts about AWS; SOURCES=DIR has clones of AWS's repositories"
	@echo "make dev-lock    lock the newest versions of what development installs"
	@echo "make benchmarks  measure the speed figures of docs/evidence.md; QUICK=1 those alone, in two minutes"

$(BIN)/python:
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "this needs python3 with venv: apt-get install python3-venv" >&2; exit 1; }

$(VENV)/.run: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@$(BIN)/python -m compileall -q compiler runtime schemas
	@touch $@

$(VENV)/.dev: pyproject.toml dev.lock | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' --constraint dev.lock
	@$(BIN)/python -m compileall -q compiler runtime schemas
	@touch $@ $(VENV)/.run

demo: $(VENV)/.run
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash docs/demo.sh

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto

test-all: export SMSPEC_ALL_CASES ?= 1
test-all: export SMSPEC_ALL_ENGINES ?= 1
test-all: export SMSPEC_ALL_PROGRAMS ?= 1
test-all: export SMSPEC_EVERY_CALL ?= 1
test-all: test

# `make test` has a sample of the values, moments, and cases for podman, and no image with PyTorch, whose base takes minutes
# and 1.4 GB.
test-containers: export SMSPEC_HOSTILE_VALUES ?= 10000
test-containers: export SMSPEC_KILLED_RUNS ?= 20
test-containers: export SMSPEC_PYTORCH_IMAGE ?= 1
test-containers: export SMSPEC_ALL_ENGINES ?= 1
test-containers: $(VENV)/.dev
	$(BIN)/python -m pytest -m docker

quick: $(VENV)/.dev
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash .ci/quick

explore: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto --hypothesis-profile=exploring $$(grep -rl hypothesis tests --include='test_*.py')

check: $(VENV)/.dev
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash .ci/check

golden: $(VENV)/.dev
	@status=0; $(BIN)/python docs/spec_reference.py && $(BIN)/python docs/diagnostics.py && $(BIN)/python docs/failures.py || status=$$?; \
	$(BIN)/python -m pytest tests/golden tests/rejected tests/imported tests/project/test_gitops_document.py --update || status=$$?; \
	git status --short tests docs compiler/smspec/diagnostics/pages.txt; exit $$status

frozen: $(VENV)/.dev
	@$(BIN)/python tests/frozen/outputs.py compare $(REV)

templates: $(VENV)/.dev
	$(BIN)/python -m maintenance.templates

shapes: $(VENV)/.dev
	$(BIN)/python -m maintenance.api_shapes

# These are only read as files, so they are installed without what they need to run.
facts: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade sagemaker-core moto
	$(BIN)/python -m maintenance.facts --sources $(SOURCES)

# For every CPython from the oldest of pyproject.toml on; without indexes and paths of the machine that runs it.
dev-lock: $(VENV)/.dev
	$(BIN)/uv pip compile --no-config --quiet --upgrade --universal --python-version 3.10 --extra dev --strip-extras --no-annotate \
		--no-emit-index-url --no-emit-find-links --custom-compile-command 'make dev-lock' --output-file dev.lock pyproject.toml

# Links, anchors, and everything else that Sphinx warns about are errors.
site: $(SITE)/.ready
	$(SITE)/bin/sphinx-build --quiet --nitpicky --fail-on-warning --keep-going -c docs/site -d build/doctrees . build/site
	@echo "open build/site/index.html"

docs: site $(VENV)/.dev
	$(BIN)/python -m pytest -q -n auto tests/project/test_documents.py tests/project/test_documented_commands.py \
		tests/project/test_gitops_document.py tests/compiler/cli/test_moving_in_document.py tests/runtime/pipe/test_pipe_mode_document.py

$(SITE)/.ready: docs/site/requirements.txt | $(BIN)/python
	@$(PYTHON) -m venv --clear $(SITE)
	$(SITE)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement $<
	@touch $@

# With hashes: what makes the site, and what the action and a release install.
LOCK := $(BIN)/uv pip compile --no-config --quiet --upgrade --universal --generate-hashes --no-annotate --no-emit-index-url \
	--no-emit-find-links --custom-compile-command 'make hash-locks'
hash-locks: $(VENV)/.dev
	$(LOCK) --python-version 3.11 --output-file docs/site/requirements.txt docs/site/requirements.in
	$(LOCK) --python-version 3.10 --output-file .github/action/requirements.txt pyproject.toml
	$(LOCK) --python-version 3.10 --output-file .github/action/requirements-build.txt \
		--constraint .github/action/requirements.txt .github/action/requirements-build.in

# Peers have a separate environment, because of conflicting dependencies. Without them a benchmark names what it omits.
$(PEERS)/.ready: tests/benchmarks/peers.txt | $(BIN)/python
	@$(PYTHON) -m venv --clear $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $< || echo "peers are not installed" >&2
	@touch $@

# Separate, because its size on disk is measured too. It has no wheel: building it needs a C compiler.
$(TOOLKIT)/.ready: | $(BIN)/python
	@$(PYTHON) -m venv --clear $(TOOLKIT)
	$(TOOLKIT)/bin/python -m pip install --quiet --disable-pip-version-check sagemaker-training==5.1.4 || echo "the toolkit is not installed" >&2
	@touch $@

benchmarks: export SMSPEC_PEERS_PYTHON = $(CURDIR)/$(PEERS)/bin/python
benchmarks: export SMSPEC_TOOLKIT_PYTHON = $(CURDIR)/$(TOOLKIT)/bin/python
benchmarks: export PATH := $(PATH):$(CURDIR)/$(PEERS)/bin
benchmarks: $(VENV)/.dev $(PEERS)/.ready $(TOOLKIT)/.ready
	@$(foreach each,$(BENCHMARKS),printf '\n== %s\n' $(each); $(BIN)/python tests/benchmarks/$(each).py $($(each)_words) || exit;)

clean:
	rm -rf $(VENV) $(PEERS) $(TOOLKIT) $(SITE) build run dist
