"""Proof that two expressions with the same values are equal."""

from ttrlab.grading.normal import Frozen
from ttrlab.grading.verdict import Verdict


def prove(a: Frozen, b: Frozen) -> tuple[Verdict, str]:
    """YES where a proof is found within the limits, else UNDECIDED."""
    return Verdict.UNDECIDED, f"equal at fixed points, unproved ({len(a)} and {len(b)} terms)"
