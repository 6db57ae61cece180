"""Write one benchmark's questions and its gold answers, into two files. The only stage upstream of an adaptation that sees gold."""

from pathlib import Path

from ttrlab.benchmarks import load_benchmark, write_benchmark, write_split
from ttrlab.config.specs import PrepareSpec
from ttrlab.provenance import write_manifest
from ttrlab.stages.command import parse, read_spec, run


def main() -> None:
    """Write ``--questions``, ``--gold`` and a ``--manifest`` that hashes all but gold.

    A part of a split gets a ``split.json`` beside them: the ids of every part, with hashes.
    """
    arguments = parse(__doc__, "questions", "gold", "manifest")
    spec = read_spec(PrepareSpec, arguments.spec)
    questions = Path(arguments.questions)
    loaded = load_benchmark(spec.name, spec.benchmark)
    write_benchmark(loaded, questions, Path(arguments.gold))
    outputs = [questions]
    if loaded.parts:
        outputs.append(questions.with_name("split.json"))
        write_split(loaded, outputs[-1])
    write_manifest(Path(arguments.manifest), "prepare", spec.model_dump(mode="json"), [], outputs)


if __name__ == "__main__":
    run(main)
