"""Write a page about finished studies of one model: scores, curves, audits, tests, disagreements, predictions, judge, cost, versions."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from ttrlab.config.catalogue import Catalogue, load_catalogue
from ttrlab.config.rectify import rectifier_jobs
from ttrlab.evaluate.metrics import grade
from ttrlab.files import read_json, write_text
from ttrlab.grading import explain, use_cache
from ttrlab.report import figures
from ttrlab.report.findings import costs, predictions, replayed, runs, scores
from ttrlab.report.findings.figures import training_curves
from ttrlab.report.tables import markdown
from ttrlab.stages.command import PROOFS, run
from ttrlab.stages.contrasts import CAPTION, differences, own_scores, readable
from ttrlab.stages.finished import Finished, read_finished, whole_run
from ttrlab.stages.highlights import highlight_parts

HEAD = """\
# {title}

This page is written by `{command}` from the studies' files; nothing in it is edited by hand. Where a number, a verdict or a sentence
says something about the methods, a rule in `src/ttrlab/report/findings/` made it. What has not finished is not counted.
"""


def study_rows(study: Finished) -> Iterator[dict[str, object]]:
    """What was run, a row a (model, benchmark)."""
    plan = study.plan
    for model, benchmark in dict.fromkeys((cell.model, cell.benchmark) for cell in plan.cells):
        planned = [cell for cell in plan.cells if (cell.model, cell.benchmark) == (model, benchmark)]
        done = [cell for cell in planned if cell in study.cells]
        training, sampling, evaluation = plan.training(planned[0]), plan.sampling(planned[0]), plan.study.evaluation
        yield {
            "study": plan.study.study,
            "model": model,
            "benchmark": benchmark,
            "n": plan.benchmark(planned[0]).rows,
            "scored": f"{len(done)} of {len(planned)}",
            "cells": "; ".join(f"seed {seed}: {_named(done, seed)}" for seed in sorted({cell.seed for cell in done})) or "none",
            "training": f"{training.updates} updates of {training.batch} questions, {training.votes} votes, {training.train} trained, "
            f"rate {training.learning_rate:g}, KL {training.kl_coefficient:g}",
            "evaluation": f"{evaluation.samples} roll-outs, {sampling.max_new_tokens} tokens, temperature {evaluation.temperature:g}",
        }


def _named(cells: Sequence, seed: int) -> str:
    return ", ".join(cell.method for cell in cells if cell.seed == seed)


def score_part(study: Finished) -> str:
    """Endpoints, and what the tests say."""
    metrics, methods = study.plan.study.evaluation.metrics, study.plan.study.methods
    questions, summary = study.table("questions.csv"), study.table("scores.csv")
    compared = differences(questions, metrics[:1], methods)
    table = scores.endpoint_table(summary, own_scores(questions, metrics[:1], methods), compared, metrics)
    tests = readable(compared.sort_values("benchmark", kind="stable")).drop(columns=["metric", "model"]) if len(compared) else None
    return table if tests is None else f"{table}\n{markdown(tests, f'{metrics[0]}: {CAPTION[0].lower()}{CAPTION[1:]}.')}"


def short_part(studies: Sequence[Finished]) -> str:
    """What the tests say, in a few lines a study."""
    parts = [
        "Differences in the main metric, in points; seen is what Wilcoxon's signed-rank test over questions sees, corrected by Holm at "
        f"{scores.ALPHA:g} within a study. With one to three seeds a test over questions says nothing about other seeds: the tables give "
        "intervals over seeds, too.\n"
    ]
    for study in (one for one in studies if one.cells):
        metrics = study.plan.study.evaluation.metrics
        compared = differences(study.table("questions.csv"), metrics[:1], study.plan.study.methods)
        if len(compared):
            parts += [f"**{study.plan.study.study}** ({metrics[0]}):\n", scores.told(compared, metrics[0])]
    return "\n".join(parts)


def training_part(study: Finished, folder: Path) -> str:
    """Curves and audit of the adaptations; the figure is written into ``folder``."""
    audit = study.table("audit.csv")
    if not len(audit):
        return ""
    stem = folder / f"{study.plan.study.study}-training"
    figures.save(training_curves(audit[audit["window"] == "step"]), stem)
    stem.with_suffix(".svg").unlink()
    return f"![{study.plan.study.study}: training]({folder.name}/{stem.name}.png)\n\n{scores.audit_table(whole_run(audit))}"


def found_predictions(study: Finished) -> list[predictions.Found]:
    """All predictions that the study's cells can test."""
    questions, audit, metrics = study.table("questions.csv"), study.table("audit.csv"), study.plan.study.evaluation.metrics
    main, votes = metrics[0], [metric for metric in metrics if metric.startswith("majority@")]
    found = predictions.endpoint_predictions(questions, main)
    found += [one for vote in votes for one in predictions.beyond_the_vote(questions, main, vote)]
    found += predictions.lucky_hits(audit[audit["window"] == "step"]) if len(audit) else []
    return found + predictions.offline_predictions({name: study.offline(name) for name in study.benchmarks() if study.bases(name)})


def one_a_rule(catalogue: Catalogue, names: Sequence[str]) -> list[str]:
    """One method of every rule: the rule's namesake, else its first method; variants of a rule would crowd a table of disagreements."""
    chosen: dict[str, str] = {}
    for name in names:
        reward = catalogue.methods[name].reward
        if reward is not None and (name == reward.rule or reward.rule not in chosen):
            chosen[reward.rule] = name
    return list(chosen.values())


def rollout_part(study: Finished, benchmark: str, catalogue: Catalogue) -> str:
    """Regimes, labels, disagreements, three questions and what no one could compare, of the base model's roll-outs on a benchmark."""
    rows, decisions, gold = study.rows(benchmark), study.replayed(benchmark, catalogue), study.gold(benchmark)
    shown = {name: decisions[name] for name in one_a_rule(catalogue, list(decisions))}
    rollouts, given = sum(len(row.texts) for row in rows), sum(answer is not None for row in rows for answer in row.answers)
    said = (
        f"{len(rows)} groups, {rollouts} roll-outs of {len(study.bases(benchmark))} seeds, {given} with an answer, "
        f"{sum(sum(row.truncated) for row in rows)} cut off, replayed through {len(decisions)} rules; disagreements are of one rule a kind."
    )

    def grader(question: str, answer: str) -> int:
        return int(grade([answer], gold[question])[0])

    floor = study.plan.study.evidence.regimes.floor
    parts = [f"### {study.plan.study.study}: {benchmark}\n", f"{said}\n"]
    parts += [
        replayed.floor_text(benchmark, list(study.offline(benchmark)["regime"]), floor),
        replayed.label_table(rows, decisions, grader),
    ]
    parts += highlight_parts(rows, gold, study.texts(benchmark), shown)
    return "\n".join([*parts, replayed.reason_table(rows, gold, explain)])


def judge_part(study: Finished) -> str:
    """What the study's rectifiers learnt, by their frozen records; empty for a study without one."""
    jobs = {
        made.name: made
        for cell in study.plan.cells
        for judge in study.plan.judges(cell)
        if (made := rectifier_jobs(study.plan, cell, judge))
    }
    parts = []
    for path in sorted(study.results.glob("rectifiers/*/frozen/*.json")):
        name = path.parent.parent.name
        if name in jobs:
            record, labels = read_json(path), read_json(path.parents[1] / "label" / "calibration.json")
            parts += [runs.judge_table(record, jobs[name].train.training.model_dump()), runs.judge_text(record, labels)]
    return "\n".join(parts)


def again(studies: Sequence[Finished]) -> str:
    """The commands that make the studies again."""
    lines = [f"snakemake --profile profiles/local --configfile config/{study.plan.study.study}.yaml" for study in studies]
    return "Made by these commands, in a checkout in which `make setup smollm2-model` has run:\n\n```sh\n" + "\n".join(lines) + "\n```\n"


def page(studies: Sequence[Finished], catalogue: Catalogue, folder: Path, title: str, command: str, bench: Path) -> str:
    """The whole page."""
    # a cell that two studies share was run once: the same job with the same clock
    jobs = list({(job["stage"], job["identity"], str(job["phases"])): job for study in reversed(studies) for job in study.jobs()}.values())
    each = {study.plan.study.study: study for study in studies}
    parts = [HEAD.format(title=title, command=command), short_part(studies), "## What was run\n"]
    parts += [again(studies), runs.plan_table([row for study in studies for row in study_rows(study)])]
    for name, study in each.items():
        parts += [f"## {name}: scores and tests\n", score_part(study) if study.cells else "", training_part(study, folder)]
        if judged := judge_part(study):
            parts += [f"### {name}: the judge\n", judged]
    tested = {name: found_predictions(study) for name, study in each.items() if study.cells}
    parts += ["## Did the papers' predictions hold?\n", predictions.prediction_table(tested)]
    parts += ["## What the rules make of the base model's roll-outs\n"]
    parts += [rollout_part(study, name, catalogue) for study in studies for name in study.benchmarks() if study.bases(name)]
    parts += ["## Cost\n", costs.cost_table(jobs), costs.throughput(jobs)]
    if bench.is_file():
        parts.append(costs.bench_table(read_json(bench)))
    parts += ["## Versions\n", runs.versions_text(manifest for study in studies for manifest in study.manifests())]
    return "\n".join(part for part in parts if part)


def main() -> None:
    """Write ``--out`` and the figures of the folder of the same name beside it from the finished cells of ``--studies``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=Path, nargs="+", required=True, help="results/<study> of each; one without a plan is left out")
    parser.add_argument("--catalogue", type=Path, default=Path("config"))
    parser.add_argument("--bench", type=Path, required=True, help="what bench/bench_smollm2.py wrote, if it ran")
    for option in ("title", "command"):
        parser.add_argument(f"--{option}", required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    use_cache(PROOFS)
    studies = [study for path in arguments.studies if (path / "plan.json").is_file() and (study := read_finished(path)).begun]
    if not studies:
        raise ValueError(f"none of {', '.join(map(str, arguments.studies))} has a finished cell")
    folder = arguments.out.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    catalogue = load_catalogue(arguments.catalogue)
    write_text(arguments.out, page(studies, catalogue, folder, arguments.title, arguments.command, arguments.bench))


if __name__ == "__main__":
    run(main)
