"""The table of what happened, which a whole test run writes into ``docs/slurm.md``."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tests.slurm.cluster import output

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/slurm.md"
BEGIN, END = "<!-- written by make test-slurm -->\n", "<!-- end -->\n"
COLUMNS = ("disturbed by", "what SLURM says of the adaptation's jobs", "steps done by each attempt", "seconds", "typed by hand", "result")


@dataclass(frozen=True)
class Case:
    """What one test saw. ``states``: of the adaptation's SLURM jobs, in order; ``steps``: numbers of the steps done by each attempt."""

    name: str
    states: list[str]
    steps: list[list[int]]
    seconds: float
    typed: str = "nothing"

    def row(self) -> str:
        """A line of the table."""
        done = "; ".join(", ".join(map(str, steps)) or "none" for steps in self.steps)
        return f"| {self.name} | {', '.join(self.states)} | {done} | {self.seconds:.0f} | {self.typed} | the undisturbed one |\n"


def write_table(cases: list[Case], seconds: float, document: Path = DOCUMENT) -> None:
    """Put the table of ``cases`` in the place of the old one."""
    head = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}\n"
    package = output("dpkg-query", "--show", "slurmctld").split()  # sbatch itself needs the configuration, which is gone by now
    versions = f"{' '.join(package)}, {datetime.now(UTC):%Y-%m-%d}, {seconds / 60:.0f} minutes in all"
    before, _, rest = document.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    document.write_text(f"{before}{BEGIN}{versions}:\n\n{head}{''.join(case.row() for case in cases)}{END}{after}")
