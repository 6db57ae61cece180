"""The plan of the study, and the lookups from wildcards to specs and files that the rules use."""

import sys
from pathlib import Path

from ttrlab.stages import plan as planning

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
except ValueError as error:
    sys.exit(f"{error}")

JOBS = planning.Jobs(PLAN, RESULTS)
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
