"""Write one benchmark's questions and its gold answers, into two files. The only stage upstream of an adaptation that sees gold."""

from pathlib import Path

from ttrlab.benchmarks import load_benchmark, write_benchmark
from ttrlab.config.specs import PrepareSpec
from ttrlab.provenance import write_manifest
from ttrlab.stages.command import parse, read_spec, run


def main() -> None:
    """Write ``--questions``, ``--gold`` and a ``--manifest`` that hashes the questions only."""
    arguments = parse(__doc__, "questions", "gold", "manifest")
    spec = read_spec(PrepareSpec, arguments.spec)
    questions = Path(arguments.questions)
    write_benchmark(load_benchmark(spec.name, spec.benchmark), questions, Path(arguments.gold))
    write_manifest(Path(arguments.manifest), "prepare", spec.model_dump(mode="json"), [], [questions])


if __name__ == "__main__":
    run(main)
