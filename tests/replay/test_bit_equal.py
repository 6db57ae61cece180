"""What replay decides on stored roll-outs is, to the byte, what the loop decided on them."""

from pathlib import Path

import pytest

from tests.replay.adapted import GOLD, QUESTIONS, HashJudge, adaptation
from ttrlab.config.catalogue import load_catalogue
from ttrlab.evaluate.metrics import grade
from ttrlab.replay.deciding import Replayer
from ttrlab.replay.groups import batches, pool_needs
from ttrlab.replay.spec import ReplayMethod, ReplaySpec
from ttrlab.replay.survey import open_pool, survey

METHODS = {
    name: method.reward
    for name, method in load_catalogue(Path(__file__).resolve().parents[2] / "config").methods.items()
    if method.reward is not None
}


@pytest.mark.parametrize("name", METHODS)
def test_replay_decides_what_the_loop_decided(name, tmp_path):
    rule = METHODS[name]
    judge = HashJudge() if "judge_score" in rule.needs else None
    lines = adaptation(tmp_path, rule, judge, (lambda i, answers: grade(answers, GOLD[i])) if rule.needs_gold else None)
    replay = ReplaySpec(study="s", kind="integer", batch=2, methods={name: ReplayMethod(rule=rule, train=32)})
    pool = open_pool(tmp_path, "integer", QUESTIONS)
    survey(pool, replay, gold=rule.needs_gold)
    replayer = Replayer(replay, pool.prompts, GOLD if rule.needs_gold else None)
    made = [line for rows in batches(pool.rows(pool_needs(rule)), 2) for line in replayer.lines(rows, [name])[name]]
    assert made == lines
    assert len(made) == 7
