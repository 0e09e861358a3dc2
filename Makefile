# `make help` lists the targets. Needs python3 (3.11 or later) with venv and pip, nothing else.

PYTHON ?= python3
JOBS   ?= 2
ARGS   ?=

PY    := .venv/bin/python
STAMP := .venv/.stamp

# One thread per pytest worker, so that JOBS workers do not fight over the cores. XLA_FLAGS does
# not reach SciPy's OpenBLAS, which solves JAX's linear systems on the CPU: with its default
# threads on busy cores, a batched solve of some 30 ms was seen to take seconds.
# Compiled functions are kept between runs.
TEST_ENV = JAX_PLATFORMS=cpu OPENBLAS_NUM_THREADS=1 \
	XLA_FLAGS="$(strip $(XLA) --xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1)" \
	JAX_COMPILATION_CACHE_DIR="$(CURDIR)/.cache/jax" \
	JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0 \
	MPLBACKEND=agg

.DEFAULT_GOAL := help
.PHONY: help .venv demo docs test quick lint typecheck pytest format versions validate bench clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z.]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' Makefile

.venv: $(STAMP)  ## create the environment, or refresh it after pyproject.toml has changed

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "supple needs Python 3.11 or later; try make PYTHON=python3.11" >&2; exit 1; }
	test -x $(PY) || $(PYTHON) -m venv .venv
	$(PY) -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: $(STAMP)  ## simulate a robot; leaves a page that plays it, out/demo.html
	$(PY) examples/demo.py

test: lint typecheck pytest  ## everything that must hold before a commit

lint: $(STAMP)  ## ruff: rules and format
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

typecheck: $(STAMP)  ## mypy on src/
	$(PY) -m mypy

pytest: $(STAMP)  ## the tests, without the slow ones; ARGS="tests/lie -k exp" narrows them
	$(TEST_ENV) $(PY) -m pytest -n $(JOBS) --durations=15 $(ARGS)

# What fails first when something is wrong, in the least time.
QUICK = tests/lie tests/strain tests/section tests/model tests/space/test_quadrature.py \
	tests/solve/test_newton.py tests/solve/test_bracket.py tests/solve/test_least_squares.py \
	tests/mechanics/test_element_motion.py tests/system/test_formulation.py \
	tests/robot/test_robot.py tests/robot/test_bad_input.py tests/robot/test_tried.py \
	tests/files/test_text.py tests/files/test_malformed.py tests/files/test_files.py \
	tests/test_expression.py tests/test_units.py tests/test_layering.py tests/test_spelling.py \
	tests/test_texts.py tests/test_api.py tests/laws/test_textbook.py

quick: $(STAMP)  ## the tests that tell most in the least time, for every save
	$(TEST_ENV) $(PY) -m pytest -q -n $(JOBS) $(QUICK) $(ARGS)

format: $(STAMP)  ## apply ruff's fixes and format
	$(PY) -m ruff check --fix-only .
	$(PY) -m ruff format .

docs: $(STAMP)  ## the documentation, as a site in out/site
	$(PY) -m mkdocs build --strict --quiet
	@echo "site: $(CURDIR)/out/site/index.html"

versions: $(STAMP)  ## the wheel in an empty folder, with the oldest and newest Python, JAX and the rest
	$(TEST_ENV) $(PY) tests/versions.py --jobs $(JOBS) $(ARGS)

# Long runs are worth optimizing, short tests are not (tests/conftest.py).
validate: XLA := --xla_backend_optimization_level=1
validate: $(STAMP)  ## the slow tests, a real browser, other versions, then the full benchmarks
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null \
		|| { echo "the viewer is tested in a browser: apt-get install chromium" >&2; exit 1; }
	$(TEST_ENV) $(PY) -m pytest tests/view/test_browser.py
	$(TEST_ENV) $(PY) -m pytest -n $(JOBS) --durations=15 -m slow
	$(TEST_ENV) $(PY) tests/versions.py --jobs $(JOBS)
	$(PY) benchmarks/run.py --full

bench: $(STAMP)  ## the quick benchmarks
	$(PY) benchmarks/run.py

clean:  ## remove caches, builds and out/ (keeps .venv)
	rm -rf .cache .hypothesis build dist out
	find src tests examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
