"""The plan of the study, and the lookups from wildcards to specs and files that the rules use."""

import signal
import sys
from pathlib import Path

from ttrlab.config.cluster import RESOURCES, read_cluster
from ttrlab.stages import plan as planning
from ttrlab.stages.queue import check_submission, queue_table

RESULTS = f"results/{config['study']}"
FROZEN = f"{RESULTS}/plan.json"
RULES = f"{RESULTS}/rules.json"
CATALOGUE = planning.catalogue_folder(config, Path(workflow.basedir) / "config")

try:
    if workflow.is_main_process:
        PLAN = planning.load_plan(config, CATALOGUE)
    else:
        PLAN = planning.load_frozen(Path(FROZEN))
    CELL = planning.requested_cell(PLAN, config)
    CLUSTER = read_cluster(Path(workflow.basedir) / "profiles/slurm/cluster.yaml")
except ValueError as error:
    sys.exit(f"{error}")

if not workflow.is_main_process:
    # SLURM tells every process of a job that its time is nearly up. Stages stop at a step boundary; what waits for them must not die of it.
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)

JOBS = planning.Jobs(PLAN, RESULTS)
if workflow.is_main_process and "slurm_extra" in (workflow.resource_settings.default_resources or ()):
    if workflow.output_settings.dryrun:
        print(queue_table(JOBS, CLUSTER), file=sys.stderr)
    elif problem := check_submission():
        sys.exit(problem)

GOLD_METHODS = [name for name in PLAN.study.methods if PLAN.catalogue.methods[name].gold]
BLIND_METHODS = [name for name in PLAN.study.methods if name not in GOLD_METHODS]
CELLS = f"{RESULTS}/cells/{{model}}/{{benchmark}}/{{method}}/seed{{seed}}"


wildcard_constraints:
    model="|".join(PLAN.catalogue.models),
    benchmark="|".join(PLAN.catalogue.benchmarks),
    method="|".join(PLAN.catalogue.methods),
    seed=r"\d+",


onstart:
    planning.freeze(PLAN, Path(FROZEN))
    planning.fix_rules(PLAN, Path(RULES))


def of_cell(lookup, *before, names=()):
    """A lookup by wildcards from a lookup by cell, and by the values of other wildcards after it."""

    def by_wildcards(wildcards):
        cell = JOBS.cells[f"{wildcards.model}/{wildcards.benchmark}/{wildcards.method}/seed{wildcards.seed}"]
        return lookup(*before, cell, *(wildcards[name] for name in names))

    return by_wildcards


def of_name(lookup, *names):
    """A lookup by wildcards from a lookup by the values of some of them, such as the name of a model or benchmark."""

    def by_wildcards(wildcards):
        return lookup(*(wildcards[name] for name in names))

    return by_wildcards


def needs(work, model=None):
    """What a job asks of a cluster, by name: resources that depend on the model that ``model`` finds by wildcards, and on the attempt."""

    def resource(name):
        def value(wildcards, attempt):
            need = CLUSTER.need(work, PLAN.study.engine, JOBS.parameters(model(wildcards)) if model else None)
            return CLUSTER.resources(need, attempt)[name]

        return value

    return {name: resource(name) for name in RESOURCES}
