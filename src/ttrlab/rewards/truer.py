"""TRUER: rewards corrected by a judge that is frozen during adaptation (arXiv:2611.13714, section 4.3, appendix A.3)."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from ttrlab.rewards.base import Rule, match_rewards, ranked_classes
from ttrlab.types import RewardDecision, RolloutGroup

UNRESOLVED = -1
"""``judge_score`` of a malformed or truncated judgement; NaN means that nobody has asked."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Where the cascade stands: a label, a roll-out still to be judged, or neither (it abstains). ``end`` names the branch."""

    end: str
    label: int | None = None
    ask: int | None = None


class Truer(Rule):
    """The cascade: judge one representative of rank 1; s >= tau accepts its answer; s < tau asks about rank 2; anything else abstains.

        r_i = 1[label given] 1[a_i = label]

    Answers are ranked by count over all parsed roll-outs; the representative is the first eligible one (``judge_fits``: parsed, not
    truncated, the judge's prompt fits) in sampling order. Abstains on: a tie for rank 1; no eligible representative; an unresolved
    judgement; a rejected rank 1 that is alone; a tie between ranks 2 and 3; a rank 2 that is rejected or unresolved. An abstaining
    question has zero advantages, its KL term stays. ``rank1_only`` never asks about rank 2. TTRL breaks the tie for rank 1 by order
    instead, so the two differ there without a judge.
    """

    rule: Literal["truer"] = "truer"
    tau: int = Field(5, ge=0, le=10)
    rank1_only: bool = False

    @property
    def needs(self) -> tuple[str, ...]:
        """Judgements and eligibility, both filled in by the caller."""
        return ("judge_score", "judge_fits")

    def requests(self, group: RolloutGroup) -> tuple[int, ...]:
        """The representative whose judgement the cascade waits for."""
        ask = self.cascade(group).ask
        return () if ask is None else (ask,)

    def __call__(self, group: RolloutGroup) -> RewardDecision:
        """Reward agreement with the accepted answer; ValueError while a judgement is missing."""
        verdict = self.cascade(group)
        if verdict.ask is not None:
            raise ValueError(f"question {group.question.id!r}: roll-out {verdict.ask} has not been judged yet")
        judged = float(np.isfinite(group.signal("judge_score").astype(np.float64)).sum())
        return RewardDecision(
            match_rewards(group, verdict.label),
            verdict.label,
            abstained=verdict.label is None,
            stats={"judged": judged, **{end: float(verdict.end == end) for end in ENDS}},
        )

    def cascade(self, group: RolloutGroup) -> Verdict:
        """Follow the cascade as far as the judgements at hand allow."""
        counts = np.concatenate([np.sort(group.counts)[::-1], [0, 0, 0]])
        if counts[0] == 0:
            return Verdict("nothing_parsed")
        if counts[0] == counts[1]:
            return Verdict("tie_rank1")
        ranked = ranked_classes(group)
        first = self._judged(group, int(ranked[0]), "rank1")
        if first.end != "rejected_rank1" or self.rank1_only:
            return first
        if counts[1] == 0:
            return first
        if counts[1] == counts[2]:
            return Verdict("tie_rank2")
        return self._judged(group, int(ranked[1]), "rank2")

    def _judged(self, group: RolloutGroup, label: int, rank: str) -> Verdict:
        """What the judgement of a class's representative says."""
        eligible = np.flatnonzero((group.answer_class == label) & group.signal("judge_fits").astype(bool))
        if eligible.size == 0:
            return Verdict(f"ineligible_{rank}")
        representative = int(eligible[0])
        score = float(group.signal("judge_score")[representative])
        if np.isnan(score):
            return Verdict(f"waiting_{rank}", ask=representative)
        if score == UNRESOLVED:
            return Verdict(f"unresolved_{rank}")
        return Verdict(f"accepted_{rank}", label=label) if score >= self.tau else Verdict(f"rejected_{rank}")


ENDS = (
    "nothing_parsed",
    "tie_rank1",
    "tie_rank2",
    *(f"{end}_{rank}" for rank in ("rank1", "rank2") for end in ("accepted", "rejected", "unresolved", "ineligible")),
)
"""The branches at which a cascade can end; a decision's stats hold 1 for its own."""
