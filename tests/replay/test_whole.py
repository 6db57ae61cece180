"""A replay from pool to files: refusals, interruptions, faults, gold."""

import json

import numpy as np
import pandas as pd
import pytest

from tests.replay.adapted import GOLD, QUESTIONS, HashJudge, adaptation
from ttrlab.files import read_json, read_jsonl, sha256, write_jsonl
from ttrlab.pools import read_pool, write_pool
from ttrlab.rectifier.select import SELECTORS
from ttrlab.replay import whole
from ttrlab.replay.deciding import Replayer
from ttrlab.replay.spec import ReplayMethod, ReplaySpec
from ttrlab.replay.whole import ReplayFiles, replay
from ttrlab.rewards import EC, Cisc, Core, Majority, Oracle, Rule, Scope, Truer, VoteFilter

RULES = {"majority": Majority(), "core": Core(), "ec": EC(), "cisc": Cisc(), "scope": Scope(), "filter": VoteFilter(margin=2)}


def spec(rules: dict[str, Rule] = RULES, **changes):
    methods = {name: ReplayMethod(rule=rule, train=8) for name, rule in rules.items()}
    return ReplaySpec(**{"study": "s", "kind": "integer", "batch": 2, "methods": methods, **changes})


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("replay")
    adaptation(folder / "adapt", votes=16)
    write_jsonl(folder / "questions.jsonl", ({"id": q.id, "prompt": q.prompt} for q in QUESTIONS))
    write_jsonl(folder / "gold.jsonl", ({"id": q, "answer": a, "tags": {"level": int(a) % 2}} for q, a in GOLD.items()))
    return folder


@pytest.fixture(autouse=True)
def _fast(request, monkeypatch):
    """Figures take most of a small replay's time: one test draws them."""
    if "figures" not in request.node.name:
        monkeypatch.setattr(whole, "write_figures", lambda out, tables, gold: None)


def files(world, out, gold=True, pool="adapt"):
    return ReplayFiles(world / pool, out, world / "gold.jsonl" if gold else None, world / "questions.jsonl")


def decided(out):
    return {path.name: sha256(path) for path in [*(out / "decisions").iterdir(), out / "visits.jsonl"]}


def test_a_replay_writes_decisions_tables_figures_and_a_summary(world, tmp_path):
    summary = replay(spec({**RULES, "oracle": Oracle()}), files(world, tmp_path))
    assert summary["pool"]["groups"] == 7
    assert summary["selection"].startswith("not made: ")
    assert summary["selection"].endswith("no judgements")
    for name in ("audit.csv", "audit.md", "audit.png", "audit.svg", "agreement.csv", "agreement.png", "malformed.jsonl", "summary.json"):
        assert (tmp_path / name).is_file()
    audit = pd.read_csv(tmp_path / "audit.csv")
    assert set(audit.group) >= {"all", "level=0", "level=1"}
    assert any(group.startswith("margin=") for group in audit.group)
    whole_pool = audit[audit.group == "all"].set_index("method")
    assert (whole_pool.tp + whole_pool.fp + whole_pool.tn + whole_pool.fn == 7 * 8).all()
    assert whole_pool.loc["oracle", ["precision", "recall", "reward_accuracy"]].tolist() == [1, 1, 1]
    assert whole_pool.loc["majority", ["tp_kept", "fp_removed"]].fillna(1).tolist() == [1, 0]
    levels = audit[audit.group.str.startswith("level=")].groupby("method").tp.sum()
    assert levels.loc[whole_pool.index].tolist() == whole_pool.tp.tolist()
    assert read_json(tmp_path / "summary.json")["audit"]["core"]["groups"] == 7


def test_without_gold_the_decisions_are_the_same_and_nothing_is_called_right(world, tmp_path):
    replay(spec(), files(world, tmp_path / "a"))
    replay(spec(), files(world, tmp_path / "b", gold=False))
    assert decided(tmp_path / "a") == decided(tmp_path / "b")
    audit = pd.read_csv(tmp_path / "b" / "audit.csv")
    assert {"coverage", "active_share"} <= set(audit.columns)
    assert not {"tp", "label_accuracy", "reward_accuracy", "recall"} & set(audit.columns)


def test_gold_is_not_opened_before_the_decisions_of_label_free_rules_stand(world, tmp_path, monkeypatch):
    real = whole.read_gold

    def late(path):
        assert (tmp_path / "visits.jsonl").is_file()
        return real(path)

    monkeypatch.setattr(whole, "read_gold", late)
    assert replay(spec(), files(world, tmp_path))["gold"] is True


def test_two_processes_decide_what_one_decides(world, tmp_path):
    replay(spec(), files(world, tmp_path / "one"))
    replay(spec(), files(world, tmp_path / "two"), jobs=2)
    assert decided(tmp_path / "one") == decided(tmp_path / "two")


def test_an_interrupted_replay_goes_on_where_it_stopped(world, tmp_path, monkeypatch):
    replay(spec(), files(world, tmp_path / "whole"))
    real, calls = Replayer.lines, []

    def dies_at_the_third(self, rows, streams):
        calls.append(len(streams))
        if len(calls) == 3:
            raise OSError("disk full")
        return real(self, rows, streams)

    monkeypatch.setattr(Replayer, "lines", dies_at_the_third)
    with pytest.raises(OSError, match="disk full"):
        replay(spec(), files(world, tmp_path / "cut"))
    assert not (tmp_path / "cut" / "decisions").exists()
    with open(tmp_path / "cut" / "progress" / "core.jsonl", "a", encoding="utf-8") as torn:
        torn.write('{"torn')
    replay(spec(), files(world, tmp_path / "cut"))
    assert calls[3:] == [7, 7]
    assert decided(tmp_path / "cut") == decided(tmp_path / "whole")
    replay(spec(), files(world, tmp_path / "cut"))
    assert len(calls) == 5


def test_a_new_or_changed_method_is_decided_alone(world, tmp_path, monkeypatch):
    replay(spec({"majority": Majority(), "core": Core()}), files(world, tmp_path))
    asked, real = [], Replayer.lines
    monkeypatch.setattr(Replayer, "lines", lambda self, rows, streams: asked.append(set(streams)) or real(self, rows, streams))
    replay(spec({"majority": Majority(), "core": Core(tau=1.0), "ec": EC()}), files(world, tmp_path))
    assert asked == [{"core", "ec"}] * 4


def test_a_damaged_decisions_file_is_made_anew(world, tmp_path):
    replay(spec(), files(world, tmp_path))
    before = decided(tmp_path)
    (tmp_path / "decisions" / "core.jsonl").write_text("{}\n")
    replay(spec(), files(world, tmp_path))
    assert decided(tmp_path) == before


def test_methods_that_the_pool_cannot_serve_are_all_refused_by_name_before_anything_runs(world, tmp_path):
    write_jsonl(world / "plain.jsonl", [{"question_id": "q1", "text": "\\boxed{1}"}] * 4)
    rules = {"majority": Majority(), "cisc": Cisc(), "truer": Truer(), "oracle": Oracle()}
    with pytest.raises(ValueError) as refusal:
        replay(spec(rules), files(world, tmp_path / "out", gold=False, pool="plain.jsonl"))
    told = str(refusal.value).splitlines()
    assert told[1:] == [
        "  cisc: rule 'cisc' needs mean_logprob; the pool has no signals",
        "  truer: rule 'truer' needs judge_score, judge_fits; the pool has no signals",
        "  oracle: rule 'oracle' needs --gold",
    ]
    assert not (tmp_path / "out" / "decisions").exists()


def test_malformed_rows_are_named_counted_and_left_out(world, tmp_path):
    rows = [row for path in sorted((world / "adapt" / "rollouts").iterdir()) for row in read_pool(path)]
    write_pool(world / "bad.jsonl", rows)
    lines = (world / "bad.jsonl").read_text().splitlines()
    lines[1] = lines[1][:50]
    without = json.loads(lines[4])
    without["signals"]["mean_logprob"][3] = None
    lines[4] = json.dumps(without)
    lines.append(json.dumps({**json.loads(lines[0]), "question_id": "stranger"}))
    (world / "bad.jsonl").write_text("\n".join(lines) + "\n")
    summary = replay(spec(), files(world, tmp_path, pool="bad.jsonl"))
    assert summary["pool"]["groups"] == 5
    assert summary["malformed"]["count"] == 3
    left_out = {row["line"]: row["reason"] for row in read_jsonl(tmp_path / "malformed.jsonl")}
    assert sorted(left_out) == [2, 5, 8]
    assert "no mean_logprob, which the replayed methods need" in left_out[5]
    assert "no such question in the questions file" in left_out[8]
    assert [row["question_id"] for row in read_jsonl(tmp_path / "visits.jsonl")] == [rows[i].question_id for i in (0, 2, 3, 5, 6)]
    assert "3 malformed parts left out" in (tmp_path / "audit.md").read_text()


def test_a_question_without_gold_is_an_error_by_name(world, tmp_path):
    write_jsonl(world / "few.jsonl", [{"id": "q0", "answer": "0", "tags": {}}])
    with pytest.raises(ValueError, match=r"question 'q\d' has no gold answer; gold holds 1 ids"):
        replay(spec(), ReplayFiles(world / "adapt", tmp_path, world / "few.jsonl"))


def judged_pool(folder):
    """A pool in which every eligible roll-out has its judgement."""
    judge = HashJudge()
    adaptation(folder, Truer(), judge, votes=16)
    for path in sorted((folder / "rollouts").iterdir()):
        write_pool(path, [_judged(row, judge) for row in list(read_pool(path))])


def _judged(row, judge):
    for i, answer in enumerate(row.answers):
        if row.signals["judge_fits"][i]:
            (made,) = judge.judge([type("Item", (), {"question": row.question_id, "solution": row.texts[i], "answer": answer})])
            row.signals["judge_score"][i] = made.score
    return row


def test_deployment_selection_is_made_where_every_eligible_rollout_was_judged(world, tmp_path):
    adaptation(world / "truer", Truer(), HashJudge(), votes=16)
    summary = replay(spec({"truer": Truer()}), files(world, tmp_path / "asked", pool="truer"))
    assert "is eligible but was not judged" in summary["selection"]
    judged_pool(world / "judged")
    summary = replay(spec({"majority": Majority()}), files(world, tmp_path / "all", pool="judged"))
    assert summary["selection"] == "made"
    table = pd.read_csv(tmp_path / "all" / "selection.csv")
    chosen = table[table.group == "all"].set_index("selector")
    assert set(chosen.index) == set(SELECTORS)
    assert (chosen.right + chosen.wrong == 7).all()
    assert chosen.loc["majority", ["changed", "judgements"]].tolist() == [0, 0]
    assert chosen.loc["all", "judgements"] >= chosen.loc["top2", "judgements"] > 0
    assert ((chosen.right - chosen.loc["majority", "right"]) == chosen.recovered - chosen.lost).all()


def test_a_judgement_that_was_never_made_is_an_error_and_no_abstention(world, tmp_path):
    adaptation(world / "unasked", Truer(), HashJudge(), votes=16)
    for path in sorted((world / "unasked" / "rollouts").iterdir()):
        rows = list(read_pool(path))
        for row in rows:
            row.signals["judge_score"][:] = np.nan
        write_pool(path, rows)
    with pytest.raises(ValueError, match="rule 'truer': no stored judgement for answer"):
        replay(spec({"truer": Truer()}), files(world, tmp_path, pool="unasked"))
