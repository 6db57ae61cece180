"""Pools and decisions as an adaptation stores them, from a policy without weights."""

import hashlib

from tests.adapt.fakes import FakePolicy
from ttrlab.adapt.loop import adapt
from ttrlab.adapt.record import decision_row, pool_row
from ttrlab.config.catalogue import PromptStyle
from ttrlab.config.settings import Sampling, Training
from ttrlab.config.specs import AdaptSpec
from ttrlab.engines.base import TOKEN_STATS
from ttrlab.files import dumps
from ttrlab.pools import write_pool
from ttrlab.rectifier.judge import JudgedItem
from ttrlab.rewards import Majority
from ttrlab.types import Question

QUESTIONS = tuple(Question(f"q{i}", f"{i}+{i}=") for i in range(5))
GOLD = {question.id: str(i) for i, question in enumerate(QUESTIONS)}
VOTES = 64


class HashJudge:
    """Scores by the content, some unresolved, some too long to ask."""

    identity = "hash"

    def _number(self, item):
        return int(hashlib.sha256(f"{item.question}{item.solution}{item.answer}".encode()).hexdigest(), 16)

    def fits(self, item):
        return self._number(item) % 7 > 0

    def judge(self, items):
        scores = [self._number(item) % 12 - 1 for item in items]
        return [JudgedItem(score, "", 2, "cut" if score < 0 else None) for score in scores]


def spec(rule=None, votes=VOTES):
    return AdaptSpec(
        model="m", benchmark="b", method="x", seed=3, kind="integer", rows=5, engine="torch", prompt=PromptStyle(), revision=None,
        rule=rule or Majority(), sampling=Sampling(), training=Training(votes=votes, train=votes // 2, batch=2, updates=4),
    )  # fmt: skip


def adaptation(folder, rule=None, judge=None, grade=None, votes=VOTES):
    """Store an adaptation's roll-outs below ``folder`` as the workflow does; the lines of its decisions."""
    lines = []
    for step in adapt(spec(rule, votes), QUESTIONS, FakePolicy(), frozenset(TOKEN_STATS), judge=judge, grade=grade):
        name = f"step{step.number:06d}.jsonl.gz"
        write_pool(folder / "rollouts" / name, (pool_row(group, step.number) for group in step.groups))
        lines += [dumps(decision_row(g, d, step.number)) + "\n" for g, d in zip(step.groups, step.decisions, strict=True)]
    return lines
