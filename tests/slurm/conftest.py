"""The cluster that these tests share, and the table that a whole run writes."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.slurm.cluster import Cluster, check_permission, install
from tests.slurm.table import Case, write_table

CASES = 8
"""Cases of a whole run: then the table in the document is written."""


@pytest.fixture(scope="session")
def cases() -> Iterator[list[Case]]:
    begun, seen = time.monotonic(), list[Case]()
    yield seen
    if len(seen) == CASES:
        write_table(seen, time.monotonic() - begun)


@pytest.fixture(scope="session")
def cluster(cases: list[Case]) -> Iterator[Cluster]:  # the table's clock starts before the installation
    check_permission()
    install()
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:
        Path(folder).chmod(0o755)  # the database runs as a user of its own
        running = Cluster(Path(folder))
        try:
            running.start()
            yield running
        finally:
            running.stop()
