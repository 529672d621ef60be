# The commands that people type. `make help` lists them.
.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all test-times mutants golden bench campaign docs renode litert lint format clean

# With Python's cache of compiled modules, whatever the environment says: the tests start many
# processes. Hypothesis loads no plugins: of what is installed trio has one, which imports all of it.
PYTHON_TESTS := env -u PYTHONDONTWRITEBYTECODE HYPOTHESIS_NO_PLUGINS=1 \
	.venv/bin/python -m pytest -n 2 --dist worksteal

help: ## what there is to type
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## install compilers, emulator and Python packages, as far as they are missing
	@scripts/setup.sh

demo: setup ## keyword spotting on an emulated board
	@.venv/bin/mcu-deploy demo

test: setup ## the fixed sample of tests
	@$(PYTHON_TESTS)

test-all: setup ## the whole matrix of tests, as long as it takes
	@$(PYTHON_TESTS) --all

test-times: setup ## the fixed sample, and what each part of it costs in processor seconds
	@$(PYTHON_TESTS) --times

mutants: setup ## try the tests of five rooms on 300 mistakes; ROOMS="planner": of this one
	@.venv/bin/python tests/mutants/run.py $(ROOMS)

golden: setup ## renew the generated C that tests/golden holds
	@.venv/bin/python tests/golden/renew.py

bench: setup ## measure, renew benchmarks/table.csv; LINES="mlperf_kws_int8 cortex-m4": only these
	@.venv/bin/python benchmarks/run.py $(LINES)

campaign: setup ## hours of tests by chance, goes on where it was; MORE="--workers 8 --share 1"
	@.venv/bin/python tests/campaign/run.py $(MORE)

docs: setup ## the documentation as a site, in site/; a link that leads nowhere is an error
	@.venv/bin/python scripts/operators_page.py
	@.venv/bin/python -m sphinx -qEW --keep-going -c scripts/site . site

renode: setup ## download the release of Renode that was tried, through renode-run
	@scripts/renode.sh

litert: setup ## install LiteRT, which validate compares TFLite models with (22 MB)
	@.venv/bin/python -m pip install -q --disable-pip-version-check -e '.[litert]'

lint: setup ## formatting and types
	@scripts/lint.sh

format: setup ## format the sources
	@scripts/lint.sh --fix

clean: ## remove the caches of tests and tools; build/ is yours
	@rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
