"""The command line that all stages share: ``--spec JSON`` and one option a file; faults are one line, not a traceback."""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from ttrlab.config.catalogue import explain

PROOFS = Path("results/.proofs")
"""Where the jobs of this folder share the grader's proofs; safe to delete."""

SpecT = TypeVar("SpecT", bound=BaseModel)


def stage_parser(doc: str | None, *options: str, optional: tuple[str, ...] = (), spec: bool = True) -> argparse.ArgumentParser:
    """A parser with ``--spec``, unless the stage depends on files alone, and the named options, each a path or a text."""
    parser = argparse.ArgumentParser(description=doc)
    if spec:
        parser.add_argument("--spec", required=True, help="the stage's spec as JSON, or @FILE")
    for name in (*options, *optional):
        parser.add_argument(f"--{name}", required=name in options)
    return parser


def parse(doc: str | None, *options: str, optional: tuple[str, ...] = ()) -> argparse.Namespace:
    """Parse ``--spec`` and the named options from the command line."""
    return stage_parser(doc, *options, optional=optional).parse_args()


def positive(text: str) -> int:
    """An option's whole number of at least 1, for argparse."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {number}")
    return number


def price_options(parser: argparse.ArgumentParser) -> None:
    """The options of ``ttrlab plan`` and of the target ``price``."""
    parser.add_argument("--hardware", help="a device of config/cost.yaml; default: cpu for the lab, h100 for all else")
    parser.add_argument("--gpus", type=positive, help="devices at hand, for the hours from first to last job")
    parser.add_argument("--cap-gpu-hours", type=float, help="refuse when the P90 of the device hours is above this")
    parser.add_argument("--measured", type=Path, nargs="+", default=[], help="results whose journals correct the price")
    parser.add_argument("--cost", type=Path, default=Path("config/cost.yaml"), help="the assumptions")
    parser.add_argument("--out", type=Path, help="write P10, P50 and P90 of every cell and phase here, as CSV")


def read_spec(kind: type[SpecT], text: str) -> SpecT:
    """The spec behind ``--spec``; ValueError lists the faults with their keys."""
    raw = Path(text[1:]).read_text(encoding="utf-8") if text.startswith("@") else text
    try:
        return kind.model_validate_json(raw)
    except ValidationError as error:
        raise ValueError(explain(error, f"--spec ({kind.__name__})")) from None


def run(main: Callable[[], None]) -> None:
    """Call a stage's main; a ValueError, RuntimeError or OSError ends it with one line on stderr and exit code 1.

    Set ``TTRLAB_TRACEBACK=1`` to see where it came from.
    """
    try:
        main()
    except (ValueError, RuntimeError, OSError) as error:
        if os.environ.get("TTRLAB_TRACEBACK") == "1":
            raise
        fault = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else error
        sys.exit(f"{Path(sys.argv[0]).stem}: error: {fault}")
