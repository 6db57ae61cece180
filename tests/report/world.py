"""A small finished study on disk, made without training: the files that the page reads."""

import base64
import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd

from ttrlab import grading
from ttrlab.config.specs import AggregateSpec
from ttrlab.config.study import Cell, Plan
from ttrlab.files import write_jsonl, write_text
from ttrlab.pools import PoolRow, write_pool
from ttrlab.report.claims import COLUMNS
from ttrlab.stages.contrasts import differences, own_scores

METRIC = "mean@4"
METHODS = ("base", "majority", "core", "oracle")
SPEC = AggregateSpec(study="tiny", metrics=(METRIC,), methods=METHODS)
RULES = {"base": {}, "majority": {"reward": {"rule": "majority"}}, "core": {"reward": {"rule": "core"}},
         "oracle": {"reward": {"rule": "oracle"}, "gold": True}}  # fmt: skip


CLAIMS = [
    ["core", "table 1", "m", "b", "core - majority", "mean@4", "", "4.0", "pp", -9.0, -20.0, 1.0, 3, 2, 1, "contradicted", "why", ""],
    ["core", "table 1", "z", "b", "core", "mean@4", "", "50.0", "%", None, None, None, None, None, None, "not run", "none", ""],
    ["core", "table 1", "y", "b", "core", "mean@4", "", "not given", "%", None, None, None, None, None, None, "not run", "none", ""],
]


def make_plan(rows: int, publishable: bool = True, seeds: tuple[int, ...] = (0, 1), methods: tuple[str, ...] = METHODS) -> Plan:
    benchmark = {"source": "path", "path": "q.jsonl", "rows": rows, "publishable": publishable}
    return Plan.model_validate(
        {
            "study": {"study": "tiny", "models": ["m"], "benchmarks": ["b"], "methods": methods, "seeds": seeds},
            "catalogue": {"models": {"m": {"source": "path", "path": "m"}}, "benchmarks": {"b": benchmark}, "methods": RULES},
        }
    )


def pool_row(question: int, step: int, seed: int, texts: list[str], answers: list[str | None]) -> PoolRow:
    n = len(texts)
    signals = {"mean_logprob": -np.linspace(0.1, 1, n), "entropy": np.full(n, np.nan)}
    return PoolRow(f"q{question}", step, seed, tuple(texts), tuple(answers), (False,) * n, (7,) * n, signals)


def decision(row: PoolRow, method: str) -> dict:
    """The vote, except for core, which takes the answer of the first roll-out."""
    classes = grading.classes(row.answers)
    label = int(classes[0]) if method == "core" else int(np.bincount(classes[classes >= 0]).argmax())
    return {
        "question_id": row.question_id,
        "step": row.step,
        "answer_class": classes.tolist(),
        "rewards": (classes == label).astype(float).tolist(),
        "pseudo_label": label,
        "labels": None,
        "weight": 1.0,
        "abstained": False,
        "stats": {"gate": 0.5},
        "per_rollout": {"equilibrium": [1 / len(classes)] * len(classes)} if method == "core" else {},
    }


def answers_of(question: int, n: int) -> list[str | None]:
    """Half and half between gold and a rival, the rival first, the last one unparsed."""
    return [*(str(question + 1) if i % 2 == 0 else str(question) for i in range(n - 1)), None]


def write_study(
    folder: Path, plan: Plan, questions: int, n: int = 4, text: str = "so the answer is 7", prompt: str = "what is {}?"
) -> Path:
    """Every file of ``plan``'s study that the page reads. ``text``: of every roll-out, its place is appended."""
    data = folder / "data" / "b"
    write_jsonl(data / "questions.jsonl", ({"id": f"q{q}", "prompt": prompt.replace("{}", str(q))} for q in range(questions)))
    write_jsonl(data / "gold.jsonl", ({"id": f"q{q}", "answer": str(q), "tags": {"level": q % 3}} for q in range(questions)))
    for cell in plan.cells:
        write_cell(folder / "cells" / cell.path, cell, questions, n, text)
    scored, summary = tables(plan, questions)
    write_text(folder / "plan.json", plan.model_dump_json(exclude_unset=True))
    for name, table in {"questions": scored, "summary": summary, "contrasts": differences(scored, SPEC.metrics, plan.study.methods),
                        "intervals": own_scores(scored, SPEC.metrics, plan.study.methods)}.items():  # fmt: skip
        write_text(folder / f"{name}.csv", table.to_csv(index=False))
    write_text(folder / "audit.csv", "\n")
    write_text(folder / "tables" / "paper.csv", pd.DataFrame(CLAIMS, columns=list(COLUMNS)).to_csv(index=False))
    write_text(folder / "tables" / "paper.md", "Paper against measured: the rule\n")
    write_text(folder / "figures" / "endpoints.svg", '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>\n')
    return folder


def write_cell(folder: Path, cell: Cell, questions: int, n: int, text: str) -> None:
    steps = (0,) if cell.method == "base" else (1, 2)
    for step in steps:
        own = "" if step < 2 else f" {cell.method}"
        rows = [pool_row(q, step, q, [f"{text}{own} #{i}" for i in range(n)], answers_of(q, n)) for q in range(questions)]
        if cell.method == "base":
            write_pool(folder / "evaluate" / "rollouts.jsonl.gz", rows)
        else:
            write_pool(folder / "adapt" / "rollouts" / f"step{step:06d}.jsonl.gz", rows)
            write_jsonl(folder / "adapt" / "decisions" / f"step{step:06d}.jsonl.gz", (decision(row, cell.method) for row in rows))


def tables(plan: Plan, questions: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """questions.csv and summary.csv: method number m is right on a question with a chance that grows with m."""
    generator = np.random.default_rng(0)
    scored = pd.DataFrame(
        [
            {"question_id": f"q{q}", "metric": METRIC, "value": float(generator.binomial(4, 0.2 + 0.2 * METHODS.index(c.method)) / 4),
             "model": c.model, "benchmark": c.benchmark, "method": c.method, "seed": c.seed}
            for c in plan.cells for q in range(questions)
        ]
    )  # fmt: skip
    means = scored.groupby(["model", "benchmark", "method", "seed"], sort=False).value.mean().reset_index()
    step = [0 if method == "base" else 2 for method in means.method]
    return scored, means.assign(
        metric=METRIC, step=step, endpoint=True, group="all", upper=means.value, n=questions, rollouts=4 * questions, undecided=0
    )


def received(chunk: Path) -> dict | list:
    """The value inside a chunk of data."""
    text = chunk.read_text(encoding="ascii")
    return json.loads(text[text.index(",") + 1 : text.rindex(");")])


def unpacked(chunk: Path) -> list[list[str]]:
    """The texts inside a packed chunk."""
    return json.loads(gzip.decompress(base64.b64decode(received(chunk))))
