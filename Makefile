# Every target sets up what it needs. `make help` lists them.
PYTHON ?= python3.11
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
# One thread a process: two cells run side by side, and the same seeds give the same bytes.
export OMP_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export TOKENIZERS_PARALLELISM := false
export HF_HUB_DISABLE_TELEMETRY := 1
STUDY ?= config/demo.yaml
SNAKEMAKE := snakemake --profile profiles/local --configfile $(STUDY)

.PHONY: help setup demo resume stale ui test test-all lint format bench schema clean
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

setup: .venv/ready ## create .venv from the lock

.venv/ready: envs/local.lock pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --requirement envs/local.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

demo: STUDY := config/demo.yaml
demo: resume ## run the demo study: real training on two CPU cores, to tables, figures and a report
	$(SNAKEMAKE) --report results/demo/report.html
	@echo && cat results/demo/tables/main.md && echo "page: results/demo/page/index.html   report: results/demo/report.html   runs: make ui"

resume: setup ## run a study, or go on with a killed one: STUDY=config/....yaml
	ttrlab recover
	@$(SNAKEMAKE) --unlock --quiet all
	$(SNAKEMAKE)

stale: setup ## list results made by other code than today's
	python -m ttrlab.cli stale results

ui: setup ## browse the runs in MLflow
	@echo "charts of all runs: http://127.0.0.1:5000/#/experiments/1/runs?compareRunsMode=CHART"
	MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false mlflow ui --backend-store-uri sqlite:///results/mlflow.db

test: setup ## run the tests
	pytest -m "not slow and not slurm"

test-all: setup ## run the tests that take minutes, too
	pytest -m "not slurm"

lint: setup ## style, types, layers, workflow format
	ruff check src tests bench
	ruff format --check src tests bench
	mypy
	lint-imports
	snakefmt --check --line-length 140 Snakefile rules

format: setup ## format the code
	ruff format src tests bench
	ruff check --fix src tests bench
	snakefmt --line-length 140 Snakefile rules

schema: setup ## write config/schema from the types
	python -m ttrlab.cli schema config/schema

bench: setup ## compare with named peers, ratios in one run each
	for script in bench/bench_*.py; do echo "== $$script" && python $$script || exit 1; done

clean: ## remove the demo's results
	rm -rf results/demo
