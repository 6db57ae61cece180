"""The command ``ttrlab``: small questions about studies, results and answers. Long work is the workflow's (``snakemake``)."""

import argparse
import os
from pathlib import Path

from ttrlab.stages.command import positive, price_options, run


def build_parser() -> argparse.ArgumentParser:
    """All subcommands; each imports its stage only when it is called."""
    parser = argparse.ArgumentParser(prog="ttrlab", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    stale = commands.add_parser("stale", help="list results made by other code than today's")
    stale.add_argument("results", type=Path, nargs="?", default=Path("results"))
    recover = commands.add_parser("recover", help="stop what a killed run left running in a folder")
    recover.add_argument("folder", type=Path, nargs="?", default=Path())
    doctor = commands.add_parser("doctor", help="what is wrong with this machine for a study, and how to mend it")
    doctor.add_argument("--config", type=Path, default=Path("config/config.yaml"), help="the study's YAML")
    doctor.add_argument("--lock", type=Path, help="the environment's lock; default: that of the study's engine")
    doctor.add_argument("--cost", type=Path, default=Path("config/cost.yaml"), help="the assumptions behind the disk space")
    status = commands.add_parser("status", help="which cells are done, running, stuck or failed, and how much is left")
    status.add_argument("results", type=Path, nargs="?", default=Path("results"))
    status.add_argument("--cost", type=Path, default=Path("config/cost.yaml"), help="the assumptions behind the time left")
    plan = commands.add_parser("plan", help="what a study would cost and could see, before it is run")
    plan.add_argument("--config", type=Path, required=True, help="the study's YAML")
    plan.add_argument(
        "--write-canary", type=Path, help="write a study of five steps of every cell of the first seed here, and price nothing"
    )
    price_options(plan)
    schema = commands.add_parser("schema", help="write the JSON schemas of the YAML files")
    schema.add_argument("folder", type=Path)
    _add_replay(commands.add_parser("replay", help="put stored roll-outs through a study's reward rules"))
    launch = commands.add_parser("launch", help="OpenRLHF's command line for one cell")
    launch.add_argument("--dry-run", action="store_true", required=True, help="print the command; running it is the workflow's")
    launch.add_argument("--config", type=Path, default=Path("config/config.yaml"), help="the study")
    launch.add_argument("--hardware", default="", help="e.g. nodes=2,gpus=8,micro_batch=4; default: one node with 8 GPUs")
    launch.add_argument("cell", nargs="+", metavar="KEY=VALUE", help="model=... benchmark=... method=... seed=...")
    answers = commands.add_parser("answers", help="how answers are extracted and compared").add_subparsers(dest="question", required=True)
    equal = answers.add_parser("equal", help="compare two answers, with the reason")
    equal.add_argument("a")
    equal.add_argument("b")
    extract = answers.add_parser("extract", help="extract the answer of every response in a JSONL file or a text file")
    extract.add_argument("file", type=Path)
    return parser


def _add_replay(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pool", type=Path, help="a pool file, a folder of them, or an adaptation's folder")
    parser.add_argument("--study", type=Path, required=True, help="the study whose methods are replayed")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--gold", type=Path, help="joined after the decisions; the oracle's rule reads it")
    parser.add_argument("--questions", type=Path, help="questions.jsonl: finds question ids by prompt, refuses other questions")
    parser.add_argument("--methods", help="these methods of the study or of the catalogue, separated by commas")
    parser.add_argument("--benchmark", help="take kind of answer, trained roll-outs and batch from this benchmark's cells")
    parser.add_argument("--kind", choices=("math", "choice", "integer"), help="how answers are read from texts")
    parser.add_argument("--train", type=positive, help="roll-outs of a group that would be trained on")
    parser.add_argument("--batch", type=positive, help="cut steps to this many groups")
    parser.add_argument("--format", choices=("pool", "jsonl", "verl", "openrlhf", "lm-eval"), help="default: by the first line's keys")
    parser.add_argument("--catalogue", type=Path, help="default: the study's own `catalogue` key, else config")
    parser.add_argument("--jobs", type=positive, default=os.cpu_count() or 1, help="processes")


def dispatch(arguments: argparse.Namespace) -> str:
    """Run a subcommand and return what it prints."""
    if arguments.command == "stale":
        from ttrlab.stages.stale import stale_command

        return stale_command(arguments.results)
    if arguments.command == "recover":
        from ttrlab.stages.recover import recover_command

        return recover_command(arguments.folder)
    if arguments.command == "status":
        from ttrlab.stages.status import status_command

        return status_command(arguments.results, arguments.cost)
    if arguments.command == "doctor":
        from ttrlab.stages.doctor import doctor_command

        return doctor_command(arguments)
    if arguments.command == "plan":
        from ttrlab.stages.price import plan_command

        return plan_command(arguments)
    if arguments.command == "schema":
        from ttrlab.stages.schema import write_schemas

        return write_schemas(arguments.folder)
    if arguments.command == "replay":
        from ttrlab.stages.replay import replay_command

        return replay_command(arguments)
    if arguments.command == "launch":
        from ttrlab.stages.dry_run import dry_run_command

        return dry_run_command(arguments.config, arguments.cell, arguments.hardware)
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
