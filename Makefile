# make demo      installs the package and replays a conversation inside a token budget
# make test      the unit tests, on the installed wheel and the embedded stores: no server, no network, five minutes at most
# make test-all  every test: servers (PostgreSQL, Redis, Milvus), notebooks, a real model; what is missing is skipped
# make soak      the property tests alone, with many more examples
# make check     lint, formatting, types and the test of the architecture
# make bench     the benchmarks behind the README's figures; BENCH=trimming runs one
#
# Needs python3 (3.11 or newer) with pip. PYTHON names another interpreter; INSTALLER=pip installs without uv, which
# is slower and reads pip's own configuration.

PYTHON ?= python3
INSTALLER ?= uv
VENV := .venv
BIN := $(VENV)/bin
# Processes that share the tests; 0 runs them in one, as a debugger needs it.
WORKERS ?= 2
PYTEST_ARGS ?=
BENCH ?=

# What the built wheel depends on.
SOURCES := pyproject.toml README.md LICENSE langchain_tiered_memory

# The tree is not on sys.path (neither `python -m` nor pytest may put the current folder there), so that what runs is
# the installed wheel.
export PYTHONSAFEPATH := 1
export TIERED_MEMORY_INSTALLED := 1

# Vocabularies that lie beside the project save a download.
ifneq ($(wildcard ../shared/tiktoken),)
export TIKTOKEN_CACHE_DIR ?= $(abspath ../shared/tiktoken)
endif

PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup

.PHONY: demo test test-all soak check bench clean
# Two installs into one environment at a time would break it.
.NOTPARALLEL:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := demo

demo: $(VENV)/.installed-all
	$(BIN)/tiered-memory replay tests/data/trip_agent.en.json --max-tokens 2000

test: $(VENV)/.installed-dev
	$(PYTEST) $(PYTEST_ARGS) tests/unit_tests

test-all: $(VENV)/.installed-dev
	$(PYTEST) $(PYTEST_ARGS) tests

soak: $(VENV)/.installed-dev
	$(PYTEST) --hypothesis-profile=soak -m hypothesis $(PYTEST_ARGS) tests

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/unit_tests/test_architecture.py

bench: $(VENV)/.installed-dev
	PYTHONPATH=tests $(BIN)/python -m benchmarks $(BENCH)

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

# Without Debian's python3-venv there is no ensurepip; then the pip outside brings one inside.
$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "langchain-tiered-memory needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) --version 2>&1)." \
			"Name a newer one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV) || { \
		$(PYTHON) -m venv --without-pip --clear $(VENV) && \
		$(PYTHON) -m pip --python $(BIN)/python install --quiet pip; }
	touch $@

# Rewritten only when a source's content, or the list of sources, has changed: an unchanged tree installs nothing.
$(VENV)/.sources: $(VENV)/.created FORCE
	@find $(SOURCES) -type f ! -name '*.pyc' | LC_ALL=C sort | xargs cksum > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# `.[all]` is built into a wheel and installed from it, never in editable form.
$(VENV)/.installed-%: $(VENV)/.sources
	@if [ "$(INSTALLER)" = uv ] \
		&& { [ -x $(BIN)/uv ] || $(BIN)/python -m pip install --quiet --disable-pip-version-check uv; } \
		&& $(BIN)/uv pip install --python $(BIN)/python --reinstall-package langchain-tiered-memory '.[$*]'; then :; \
	else \
		echo "Installing with pip."; \
		$(BIN)/python -m pip install --disable-pip-version-check '.[$*]'; \
	fi
	@touch $@

FORCE:
