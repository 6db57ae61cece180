"""The default study, 42 model-benchmark pairs x 5 methods x 3 seeds, finished on disk without any training: what the report reads."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from tests.report.world import answers_of, decision, pool_row
from ttrlab.adapt.schedule import checkpoint_steps
from ttrlab.config.catalogue import read_yaml
from ttrlab.config.study import Cell, Plan
from ttrlab.evaluate.audit import by_windows, last_updates, per_step, whole_run
from ttrlab.files import write_json, write_jsonl, write_text
from ttrlab.pools import write_pool
from ttrlab.stages.plan import fix_rules, load_plan

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS, ROLLOUTS = 40, 16
CURVE = 10
"""Points of a learning curve before the endpoint."""

LIFT = {"base": 0.0, "majority": 0.2, "ec": 0.2, "cisc": 0.2, "core": 0.22}


def default_plan(models: int = 7, benchmarks: int = 6) -> Plan:
    """The plan of config/config.yaml, of its first ``models`` and ``benchmarks``; groups that lack a member are left out."""
    raw = read_yaml(ROOT / "config/config.yaml")
    for name, count in (("models", models), ("benchmarks", benchmarks)):
        raw[name] = raw[name][:count]
        raw["evidence"][name] = {group: members for group, members in raw["evidence"][name].items() if set(members) <= set(raw[name])}
    return load_plan(raw, ROOT / "config")


def write_grid(folder: Path, plan: Plan) -> None:
    """Every artefact of the study's cells below ``folder``; numbers depend on the cell alone."""
    write_text(folder / "plan.json", plan.model_dump_json(exclude_unset=True))
    fix_rules(plan, folder / "rules.json")
    for benchmark in plan.study.benchmarks:
        data = folder / "data" / benchmark
        write_jsonl(data / "questions.jsonl", ({"id": f"q{q}", "prompt": f"what is {q}?"} for q in range(QUESTIONS)))
        write_jsonl(data / "gold.jsonl", ({"id": f"q{q}", "answer": str(q), "tags": {"level": q % 5}} for q in range(QUESTIONS)))
    for method in plan.study.methods:
        write_pools(folder / "pools" / method, method)
    for number, cell in enumerate(plan.cells):
        write_cell(folder / "cells" / cell.path, plan, cell, np.random.default_rng(number))
        shutil.copytree(folder / "pools" / cell.method, folder / "cells" / cell.path, dirs_exist_ok=True)
    shutil.rmtree(folder / "pools")


def write_pools(folder: Path, method: str) -> None:
    """Stored roll-outs and decisions of one cell, the same in each."""
    text = "first we add what is given and then we see that this is so, " * 4
    for step in (0,) if method == "base" else (1, 2):
        rows = [pool_row(q, step, q, [f"{text}#{i}" for i in range(ROLLOUTS)], answers_of(q, ROLLOUTS)) for q in range(QUESTIONS)]
        if method == "base":
            write_pool(folder / "evaluate" / "rollouts.jsonl.gz", rows)
        else:
            write_pool(folder / "adapt" / "rollouts" / f"step{step:06d}.jsonl.gz", rows)
            write_jsonl(folder / "adapt" / "decisions" / f"step{step:06d}.jsonl.gz", (decision(row, method) for row in rows))


def write_cell(folder: Path, plan: Plan, cell: Cell, rng: np.random.Generator) -> None:
    """Scores, curves, audit, step records and cost of one cell."""
    name = {"model": cell.model, "benchmark": cell.benchmark, "method": cell.method, "seed": cell.seed}
    last = 0 if cell.method == "base" else checkpoint_steps(plan.benchmark(cell).rows, plan.training(cell))[-1]
    steps = [0] if last == 0 else [last * point // (CURVE + 1) for point in range(1, CURVE + 1)] + [last]
    level = 0.3 + LIFT[cell.method] * (1 - np.exp(-4 * np.array(steps) / max(last, 1)))
    curve = rng.binomial(16, level, (QUESTIONS, len(steps))) / 16
    ids = [f"q{q}" for q in range(QUESTIONS)]
    write_text(folder / "curves.csv", pd.DataFrame(curve, columns=steps, index=ids).to_csv(index_label="question_id"))
    ends = [pd.DataFrame({"question_id": ids, "metric": metric, "value": curve[:, -1]}) for metric in plan.study.evaluation.metrics]
    write_text(folder / "questions.csv", pd.concat(ends).assign(**name).to_csv(index=False))
    write_text(folder / "scores.csv", pd.DataFrame(list(score_rows(plan, steps, curve))).assign(**name).to_csv(index=False))
    if cell.method == "base":
        if cell.seed == plan.study.seeds[0]:
            write_offline(folder / "offline", plan, cell, rng)
        return
    write_text(folder / "audit.csv", audit_rows(last, rng).assign(**name).to_csv(index=False))
    write_jsonl(folder / "adapt" / "steps.jsonl", ({"step": step, "questions": 8, "reward_mean": 0.5} for step in range(1, 31)))
    spent = {"sample": {"wall": 3600.0 + cell.seed, "cpu": 3600.0, "discarded_wall": 0.0, "discarded_cpu": 0.0}}
    write_json(folder / "adapt" / "cost.json", {"devices": ["GPU"], "phases": spent})


def score_rows(plan: Plan, steps: list[int], curve: np.ndarray) -> Iterator[dict[str, object]]:
    for place, step in enumerate(steps):
        for metric in plan.study.evaluation.metrics:
            for group in ("all", *(f"level={level}" for level in range(5))):
                value = float(curve[:, place].mean())
                counts = {"n": QUESTIONS, "rollouts": 16 * QUESTIONS, "undecided": 0}
                yield {
                    "step": step,
                    "endpoint": step == steps[-1],
                    "group": group,
                    "metric": metric,
                    "value": value,
                    "upper": value,
                    **counts,
                }


def audit_rows(last: int, rng: np.random.Generator) -> pd.DataFrame:
    """The windows of the last 30 steps, each one visit of a batch of questions."""
    steps, rollouts = np.arange(last - 29, last + 1), 512
    right, rewarded = rng.integers(200, 400, 30), rng.integers(200, 400, 30)
    tp = (right * rewarded) // rollouts
    whole = dict.fromkeys(("active", "accepted", "majority_active", "reachable", "weight"), QUESTIONS)
    shares = {f"{name}_{end}": rng.integers(5, 15, 30) for name in ("label", "majority") for end in ("right", "wrong")}
    visits = pd.DataFrame(
        {
            **{"step": steps, "question_id": "all", "groups": QUESTIONS, "rollouts": rollouts, "undecided": 0, "changed": 3},
            **{"tp": tp, "fp": rewarded - tp, "fn": right - tp, "tn": rollouts - right - rewarded + tp, "reward": rewarded},
            **{"majority_tp": tp + 5, "majority_fp": rewarded - tp + 20, **whole, **shares},
        }
    )
    windows = {"step": per_step, "15 updates": by_windows, "last 4": last_updates, "whole run": whole_run}
    return pd.concat([summed(visits).assign(window=name) for name, summed in windows.items()], ignore_index=True)


def write_offline(folder: Path, plan: Plan, cell: Cell, rng: np.random.Generator) -> None:
    ids, name = [f"q{q}" for q in range(QUESTIONS)], {"model": cell.model, "benchmark": cell.benchmark}
    right, wrong = rng.integers(1, 20, QUESTIONS), rng.integers(5, 30, QUESTIONS)
    rivals = {"coherence_correct": 0.8, "coherence_wrong": 0.7, "weight_correct": 0.6, "weight_wrong": 0.4, "gap": 0.3}
    regimes = ["saturated", "contested", "contested", "floor"] * (QUESTIONS // 4)
    table = pd.DataFrame({"question_id": ids, "regime": regimes, "confidence_gap": rng.normal(0.3, 0.1, QUESTIONS), "n": right, "m": wrong})
    write_text(folder / "questions.csv", table.assign(recovered=2 * right > wrong, **rivals, **name).to_csv(index=False))
    adapting = [method for method in plan.study.methods if method != "base"]
    votes = [[method, n, q, float(rng.random())] for method in adapting for n in (2, 4, 8, 16, 32) for q in ids]
    write_text(
        folder / "votes.csv", pd.DataFrame(votes, columns=["method", "votes", "question_id", "right"]).assign(**name).to_csv(index=False)
    )
