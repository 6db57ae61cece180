"""Invented rows with the columns of the real data sets."""

import json
from pathlib import Path
from typing import Any


def math_rows(n: int = 4) -> list[dict[str, Any]]:
    words = ["apples", "pears", "plums", "cherries", "figs", "dates", "limes", "nuts", "beans", "peas"]
    return [
        {
            "problem": f"How many {words[i % 10]}{'x' * (i // 10)} are in {i + 2} baskets?",
            "solution": "Count them.",
            "answer": str(i),
            "subject": "Algebra",
            "level": i % 5 + 1,
            "unique_id": f"test/algebra/{i}.json",
        }
        for i in range(n)
    ]


def gpqa_rows(n: int = 4) -> list[dict[str, Any]]:
    return [
        {
            "Record ID": f"rec{i}",
            "Question": f"Which particle is number {i}?",
            "Correct Answer": f"right {i}",
            **{f"Incorrect Answer {k}": f"wrong {k}" for k in (1, 2, 3)},
            "High-level domain": "Physics",
        }
        for i in range(n)
    ]


def write_jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
