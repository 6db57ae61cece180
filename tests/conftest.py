"""Fixtures that several test folders share."""

import os
from pathlib import Path

import pytest

# One thread a process, set before torch is loaded: with several, sums depend on how the work was split, and bytes with them.
for _library in ("OMP", "MKL", "OPENBLAS"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real benchmark files and papers beside the checkout; tests that need it skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the folder ../shared (real benchmark files, answer pairs) is not beside this checkout")
    return SHARED
