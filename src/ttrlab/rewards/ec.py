"""Equilibrium consensus: CoRE without confidence (arXiv:2608.09324)."""

from typing import Literal

import numpy as np

from ttrlab.rewards.core import EquilibriumRule
from ttrlab.types import FloatArray, RolloutGroup


class EC(EquilibriumRule):
    """CoRE with w = e: "graded rewards but no confidence". The gate stays on; the text does not say, ``gate: false`` turns it off.

    ``kappa: 1, gate: false`` is the majority vote (Proposition 1), except that a group in which no two roll-outs agree abstains.
    """

    rule: Literal["ec"] = "ec"

    @property
    def needs(self) -> tuple[str, ...]:
        """Reasoning similarity."""
        return (self.similarity,)

    def weights(self, group: RolloutGroup) -> FloatArray:
        """1 for every roll-out with an answer."""
        return group.parsed.astype(np.float64)
