"""Refuse a rectifier's source that shares questions with a target, or whose two parts share any, before anything is sampled."""

from itertools import combinations, product
from pathlib import Path

from ttrlab.benchmarks import read_questions, require_disjoint
from ttrlab.files import sha256, write_json
from ttrlab.stages.command import run, stage_parser


def main() -> None:
    """Compare the files of ``--source`` with each other and with those of ``--targets``; write their hashes to ``--report``."""
    parser = stage_parser(__doc__, "report", spec=False)
    parser.add_argument("--source", nargs="+", required=True)
    parser.add_argument("--targets", nargs="+", required=True)
    arguments = parser.parse_args()
    files = {name: Path(name) for name in (*arguments.source, *arguments.targets)}
    questions = {name: read_questions(path) for name, path in files.items()}
    pairs = [*combinations(arguments.source, 2), *product(arguments.source, arguments.targets)]
    for first, second in pairs:
        try:
            require_disjoint(questions[first], questions[second])
        except ValueError as error:
            raise ValueError(f"{first} and {second}: {error}") from None
    write_json(Path(arguments.report), {"disjoint": [list(pair) for pair in pairs], "sha256": {n: sha256(p) for n, p in files.items()}})


if __name__ == "__main__":
    run(main)
