"""What was run, by which versions, and what is still missing."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from ttrlab.report.tables import markdown


def plan_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """One row a (study, model, benchmark): questions, methods, finished and planned cells, how it was trained and scored."""
    caption = "What was run. Cells: (method, seed) pairs with all their scores, of those planned; an unfinished cell is nowhere below."
    return markdown(pd.DataFrame(list(rows)), caption)


def versions_text(manifests: Iterable[Mapping[str, Any]]) -> str:
    """Versions of the packages and revisions of the code behind the cells, as their manifests recorded them."""
    versions: dict[str, set[str]] = {}
    revisions: set[str] = set()
    for manifest in manifests:
        revisions.add(str(manifest["revision"]).partition("-")[0][:10])
        for name, version in manifest["versions"].items():
            versions.setdefault(name, set()).add(version)
    listed = ", ".join(f"{name} {' and '.join(sorted(found))}" for name, found in sorted(versions.items()))
    return f"Recorded by the adaptations: {listed}; code at {', '.join(sorted(revisions))}.\n"


def judge_table(record: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """The checkpoints of a rectifier on its calibration candidates, and which was frozen.

    ``record``: what ``frozen_record`` wrote. ``settings``: the rectifier's training.
    """
    warm = settings["warm_start_updates"]
    rows = [
        {
            "checkpoint": f"{score['step']}{' (warm start)' if score['step'] == warm else ''}",
            "candidates": score["candidates"],
            "accuracy": f"{100 * score['accuracy']:.1f}",
            "balanced": f"{100 * score['balanced']:.1f}",
            "wrong accepted": f"{100 * score['wrong_accepted']:.1f}",
            "right withheld": f"{100 * score['correct_withheld']:.1f}",
            "invalid": f"{100 * score['invalid']:.1f}",
            "frozen": "yes" if score["step"] == record["step"] else "",
        }
        for score in record["calibration"]
    ]
    caption = (
        f"The judge on its calibration candidates, in %, after a warm start of {warm} updates and reinforcement learning of "
        f"{settings['updates']}; a coin has 50 balanced."
    )
    return markdown(pd.DataFrame(rows), caption)


def judge_text(record: Mapping[str, Any], labels: Mapping[str, Any]) -> str:
    """Whether the frozen judge is better than a coin: its balanced accuracy with a 95 % interval over candidates.

    ``labels``: ``source_report`` of the calibration candidates. Candidates of one question are alike, so the interval is a little short.
    """
    frozen = next(score for score in record["calibration"] if score["step"] == record["step"])
    counts = {name: category["candidates"] for name, category in labels["categories"].items()}
    right = counts["majority_correct"] + counts["minority_correct"]
    errors = ((frozen["correct_withheld"], right), (frozen["wrong_accepted"], sum(counts.values()) - right))
    half = 1.96 * sum(rate * (1 - rate) / n for rate, n in errors) ** 0.5 / 2
    low, high = frozen["balanced"] - half, frozen["balanced"] + half
    verdict = (
        "it has learnt to judge" if low > 0.5 else "it has not been seen to judge better than a coin" if high > 0.5 else "worse than a coin"
    )
    measured = f"{100 * frozen['balanced']:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
    return f"The frozen judge has a balanced accuracy of {measured} on {right} right and {errors[1][1]} wrong candidates: {verdict}.\n"
