"""What a run has spent, read from its folder in each unit, and when a budget ends a continuation."""

import json

import pytest

from ttrlab.config.continuation import Continuing
from ttrlab.files import read_json
from ttrlab.rectifier.judge import JudgedItem, JudgeItem
from ttrlab.rectifier.stored import JUDGEMENTS, CachedJudge
from ttrlab.stages.budget import SPENT, Budget


class Judge:
    """Says the same of everything, in 7 tokens."""

    identity = "same"

    def fits(self, item):
        return True

    def judge(self, items):
        return [JudgedItem(5, "so", 7) for _ in items]


def run(folder, tokens, active=(), phases=()):
    """A folder with one step a number of sampled tokens, and a journal of (phase, step, seconds)."""
    (folder / "steps").mkdir(parents=True)
    for number, spent in enumerate(tokens, 1):
        record = {"step": number, "questions": 4, "tokens": spent, "active_share": active[number - 1] if active else 0.0}
        (folder / f"steps/step{number:06d}.json").write_text(json.dumps(record))
    rows = [{"attempt": 1, "event": "begin", "stage": "adapt", "identity": "x", "processor": "p", "cores": 2}]
    rows.append({"attempt": 1, "event": "devices", "devices": ["gpu0", "gpu1"]})
    rows += [{"attempt": 1, "phase": phase, "step": step, "wall": wall, "cpu": 0.0} for phase, step, wall in phases]
    (folder / "cost.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_active_groups_are_counted_over_all_steps(tmp_path):
    assert SPENT["active_groups"](run(tmp_path / "a", [1, 1, 1], active=(0.25, 0.0, 1.0))) == 5


def test_seconds_are_those_of_sampling_deciding_and_updating_times_the_devices_and_redone_work_counts_once(tmp_path):
    phases = [("load", 0, 100.0), ("sample", 1, 2.0), ("decide", 1, 1.0), ("update", 1, 3.0), ("sample", 2, 50.0), ("sample", 2, 4.0)]
    assert SPENT["seconds"](run(tmp_path / "a", [1], phases=phases)) == 2 * (2 + 1 + 3 + 4)


def test_tokens_are_those_of_rollouts_and_of_every_judgement_once(tmp_path):
    folder = run(tmp_path / "a", [10, 20])
    judge = CachedJudge(Judge(), folder / JUDGEMENTS)
    for answers in (("1", "2"), ("2", "3")):
        judge.judge([JudgeItem("q", "s", answer) for answer in answers])
    assert SPENT["tokens"](folder) == 30 + 3 * 7


@pytest.mark.parametrize(("own", "steps"), [((50, 50, 50), 2), ((100,), 1), ((500,), 1)])
def test_a_budget_ends_after_the_first_step_that_meets_it(tmp_path, own, steps):
    start, other = run(tmp_path / "start", [100]), run(tmp_path / "other", [150, 50])
    folder = tmp_path / "own"
    (folder / "steps").mkdir(parents=True)
    budget = Budget.of(Continuing(method="m", of="o", until="tokens", at_most=9, after=1), start, other, folder)
    made = 0
    for number in budget.limit(iter(range(len(own))), begun=False):
        (folder / f"steps/step{number:06d}.json").write_text(json.dumps({"tokens": own[number]}))
        made += 1
    assert made == steps
    budget.write(folder / "budget.json", 1 + made)
    expected = {"until": "tokens", "target": 200, "before": 100, "spent": 100 + sum(own[:steps]), "met": True, "steps": 1 + steps}
    assert read_json(folder / "budget.json") == expected


def test_a_resumed_run_that_has_met_its_budget_makes_no_further_step(tmp_path):
    start, other = run(tmp_path / "start", [100]), run(tmp_path / "other", [50])
    budget = Budget.of(Continuing(method="m", of="o", until="tokens", at_most=9, after=1), start, other, run(tmp_path / "own", [1]))
    assert list(budget.limit(iter(range(3)), begun=True)) == []
    assert next(budget.limit(iter(range(3)), begun=False)) == 0
