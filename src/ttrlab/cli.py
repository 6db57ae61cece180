"""The command ``ttrlab``: small questions about studies, results and answers. Long work is the workflow's (``snakemake``)."""

import argparse
from pathlib import Path

from ttrlab.stages.command import run


def build_parser() -> argparse.ArgumentParser:
    """All subcommands; each imports its stage only when it is called."""
    parser = argparse.ArgumentParser(prog="ttrlab", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    stale = commands.add_parser("stale", help="list results made by other code than today's")
    stale.add_argument("results", type=Path, nargs="?", default=Path("results"))
    schema = commands.add_parser("schema", help="write the JSON schemas of the YAML files")
    schema.add_argument("folder", type=Path)
    answers = commands.add_parser("answers", help="how answers are extracted and compared").add_subparsers(dest="question", required=True)
    equal = answers.add_parser("equal", help="compare two answers, with the reason")
    equal.add_argument("a")
    equal.add_argument("b")
    extract = answers.add_parser("extract", help="extract the answer of every response in a JSONL file or a text file")
    extract.add_argument("file", type=Path)
    return parser


def dispatch(arguments: argparse.Namespace) -> str:
    """Run a subcommand and return what it prints."""
    if arguments.command == "stale":
        from ttrlab.stages.stale import stale_command

        return stale_command(arguments.results)
    if arguments.command == "schema":
        from ttrlab.stages.schema import write_schemas

        return write_schemas(arguments.folder)
    from ttrlab.stages import answers

    if arguments.question == "equal":
        return answers.equal_command(arguments.a, arguments.b)
    return answers.extract_command(arguments.file)


def main() -> None:
    """Entry point."""
    arguments = build_parser().parse_args()
    run(lambda: print(dispatch(arguments)))


if __name__ == "__main__":
    main()
