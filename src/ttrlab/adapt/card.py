"""The model card of an adapted policy: a README.md in the Hugging Face form, which travels with the weights."""

from ttrlab.config.specs import AdaptSpec
from ttrlab.files import digest

CARD = """---
base_model: {base}
license: {licence}
tags: [test-time-reinforcement-learning, ttrlab]
---

# {model}, adapted to {benchmark} by {method}

**Do not report this model on {benchmark} as zero-shot, and do not use it as the base of a run on {benchmark}: it was trained on that
benchmark's own questions.** A score on them belongs to test-time training and is compared with other test-time training alone. Questions
that {benchmark} shares with other benchmarks are contaminated there, too.

| | |
|---|---|
| base model | {base}{revision} |
| licence | {licence}, the base model's; it holds for these weights, too |
| data | the {rows} questions of {benchmark}, which is the test set itself, {labels} |
| method | {method}: rule `{rule}`, {votes} roll-outs a question vote, {trained} of them are trained on |
| judge | {judge} |
| step | {step} of {last}; the endpoint of the run is step {last}, and no step is selected by its score |
| seed | {seed} |
| spec | SHA-256 {spec} |

What else went into it (inputs, code, versions) stands in `manifest.json` of the run's folder, two folders up.
"""

LABELS = {
    False: "without their answers: rewards come from the model's own roll-outs",
    True: "**with their gold answers**: this is the oracle, an upper bound and no method",
}


def model_card(spec: AdaptSpec, base: str, step: int, last: int) -> str:
    """The card of the policy after ``step`` of ``last``. ``base``: hub id or catalogue name; never a path of this machine."""
    return CARD.format(
        base=base,
        revision=f" at revision {spec.revision}" if spec.revision else "",
        licence=spec.licence or "unknown",
        model=spec.model,
        benchmark=spec.benchmark,
        method=spec.method,
        rows=spec.rows,
        labels=LABELS[spec.rule.needs_gold],
        rule=spec.rule.rule,
        votes=spec.training.votes,
        trained=spec.training.train,
        judge=spec.judge.model if spec.judge else "none",
        step=step,
        last=last,
        seed=spec.seed,
        spec=digest(spec.model_dump(mode="json")),
    )
