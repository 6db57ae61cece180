"""ttrlab: test-time reinforcement learning, adapted, evaluated and compared over models x benchmarks x methods x seeds."""

from snakemake.utils import min_version

min_version("9.0")

if "study" not in config:

    configfile: "config/config.yaml"


include: "rules/common.smk"
include: "rules/data.smk"
include: "rules/rectifier.smk"
include: "rules/adapt.smk"
include: "rules/evaluate.smk"
include: "rules/report.smk"
include: "rules/deploy.smk"
include: "rules/replay.smk"
include: "rules/page.smk"
include: "rules/plan.smk"


localrules:
    all,
    cell,


rule all:
    default_target: True
    input:
        REPORT,
        DEPLOYMENT,


rule cell:
    """One cell: --config model=... benchmark=... method=... seed=..."""
    input:
        JOBS.results_of(CELL) if CELL else [],
