# One page of what a developer can do. What is installed follows pyproject.toml and constraints.txt.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Peers of `make judges`, in an environment of their own
JUDGES := .venv-judges
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
JUROR_DATA ?= $(if $(wildcard ../shared/data),$(abspath ../shared/data))
export JUROR_DATA
# Made by npm: the tools that check and bundle the JavaScript of the report page
PAGE := page/node_modules/.package-lock.json

.DEFAULT_GOAL := help
.PHONY: help demo setup test lint types page docs package audit bench scale bench-accuracy judges coverage paper explorer cost optimum digest gpu fuzz soak clean

help:  ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 16

demo: $(VENV)/.package  ## install, fit the embedded example, ask it a few things
	@$(BIN)/python -m juror.cli.demo

setup: $(VENV)/.test  ## install juror and what the tests need, and run nothing

test: $(VENV)/.test  ## install what the tests need and run them all
	$(BIN)/python -m pytest -n auto -q

lint: $(VENV)/.lint $(PAGE)  ## check style and formatting; of the report page's JavaScript also the types and the bundle
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	npm --prefix page run --silent check

types: $(VENV)/.lint  ## check types
	$(BIN)/mypy

page: $(PAGE)  ## bundle page/src, the JavaScript of the report page, into the package (needs npm)
	npm --prefix page run --silent build

docs: $(VENV)/.docs  ## build the site into build/docs; open build/docs/index.html
	$(BIN)/sphinx-build -W --keep-going -q -b html docs build/docs

package: $(VENV)/.build  ## build sdist and wheel into dist/, and run the README's Python with the wheel, elsewhere (minutes)
	rm -rf dist
	$(BIN)/python -m build --quiet
	folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && cp README.md "$$folder" \
		&& $(PYTHON) -m venv "$$folder/venv" \
		&& "$$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check -c constraints.txt dist/*.whl \
		&& cd "$$folder" && venv/bin/python -m doctest -o ELLIPSIS README.md && venv/bin/juror --version

audit: $(VENV)/.audit  ## look for known problems of the pinned packages (needs the network; no part of CI)
	$(BIN)/pip-audit --strict --no-deps --disable-pip -r constraints.txt

bench: $(VENV)/.bench  ## docs/speed.md: how fast, beside others (20 minutes; QUICK=1: a minute or two, into results/; ONLY=em,pairs)
	$(BIN)/python -m benchmarks.speed $(if $(QUICK),--quick) $(if $(ONLY),--only $(ONLY))

scale: $(VENV)/.bench  ## docs/scale.md: tables larger than memory, clusters, and what they cost (half an hour; QUICK=1: minutes, into results/)
	$(BIN)/python -m benchmarks.scale $(if $(QUICK),--quick)

bench-accuracy: $(VENV)/.plots  ## docs/accuracy.md: how near the limit, beside others (an hour; QUICK=1: a minute, into results/)
	$(BIN)/python -m benchmarks.accuracy $(if $(QUICK),--quick)

judges: $(JUDGES)/.installed  ## docs/judges.md: beside judges and peers from outside (hours; QUICK=1: minutes, into results/; goes on where it stopped)
	$(JUDGES)/bin/python -m benchmarks.judges $(if $(QUICK),--quick)

coverage: $(VENV)/.package  ## docs/coverage.md: how many intervals hold the truth (a quarter of an hour)
	$(BIN)/python benchmarks/held_truths.py

paper: $(VENV)/.plots  ## the seven tables of the paper again, into results/ (an hour; QUICK=1: a minute; goes on where it stopped)
	$(BIN)/juror paper -o results $(if $(QUICK),--quick)

explorer: $(VENV)/.test  ## how large the report page is and how fast it moves; PORTRAITS=1: docs/explorer/*.png anew
	$(BIN)/python benchmarks/explorer.py $(if $(PORTRAITS),--portraits)

gpu:  ## docs/gpu.md: the kernels' tests and what they do on an NVIDIA card (minutes; PYTHON=… with PyTorch, Triton and what juror needs)
	PYTHONPATH=src $(PYTHON) -m benchmarks.gpu

cost: $(VENV)/.package  ## how the time of juror-b grows with directions and rows
	$(BIN)/python benchmarks/juror_cost.py

optimum: $(VENV)/.package  ## whether the search of EM finds the optimum, and at what cost (minutes)
	$(BIN)/python benchmarks/optimum.py

digest: $(VENV)/.package  ## digests of small fits by every method: run it before and after a change that must keep the bits
	$(BIN)/python -W ignore benchmarks/digest.py

fuzz: $(VENV)/.test  ## feed N=10000 changed files, questions and CSV files to juror; SEED=1: others
	$(BIN)/python tests/fuzz/fuzzing.py -n $(or $(N),10000) --seed $(or $(SEED),0)

soak: $(VENV)/.package  ## fit, ask, save and load from many threads, and kill processes meanwhile (half an hour; MINUTES=2)
	$(BIN)/python benchmarks/soak.py --minutes $(or $(MINUTES),30)

clean:  ## remove the virtual environment, npm's packages and caches
	rm -rf $(VENV) $(JUDGES) page/node_modules demo .mypy_cache .ruff_cache .pytest_cache .hypothesis src/*.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "juror needs Python 3.11 or later; say which with: make PYTHON=python3.11 …"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.package: $(VENV)/.python pyproject.toml constraints.txt
	@echo 'installing juror and what it needs into $(VENV), about a minute …'
	@$(INSTALL) -e .
	@touch $@

$(VENV)/.test: $(VENV)/.package
	@$(INSTALL) -e '.[test]'
	@touch $@

$(VENV)/.plots: $(VENV)/.package
	@$(INSTALL) -e '.[plots]'
	@touch $@

$(VENV)/.docs: $(VENV)/.package
	@$(INSTALL) -e '.[docs]'
	@touch $@

$(VENV)/.bench: $(VENV)/.package
	@echo 'installing what juror is measured beside into $(VENV), some minutes …'
	@$(INSTALL) -e '.[bench]'
	@touch $@

# without constraints.txt, as sdmetrics and pylace need older packages than juror is tested with
$(JUDGES)/.installed: pyproject.toml
	@echo 'installing juror, judges and peers into $(JUDGES), some minutes …'
	@$(PYTHON) -m venv $(JUDGES)
	@$(JUDGES)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[judges]'
	@touch $@

$(VENV)/.build: $(VENV)/.package
	@$(INSTALL) -e '.[build]'
	@touch $@

$(VENV)/.audit: $(VENV)/.package
	@$(INSTALL) -e '.[audit]'
	@touch $@

$(VENV)/.lint: $(VENV)/.package
	@$(INSTALL) -e '.[lint]'
	@touch $@

$(PAGE): page/package.json page/package-lock.json
	@command -v npm > /dev/null || { echo "The report page's JavaScript is checked with tools from npm. Install nodejs and npm."; exit 1; }
	@npm --prefix page ci --silent --no-audit --no-fund --ignore-scripts
	@touch $@
