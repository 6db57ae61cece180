"""Pre-train one lab model, and refuse it when its measured regimes are not what the config says."""

from pathlib import Path

from ttrlab.config.specs import PretrainSpec
from ttrlab.engines.pretrain import pretrain
from ttrlab.files import atomic_folder, digest, hashes, write_json
from ttrlab.meter import metered
from ttrlab.provenance import write_manifest
from ttrlab.stages.command import parse, read_spec, run


def main() -> None:
    """Write the Hugging Face folder ``--out``, then its measured regimes and manifest beside it."""
    arguments = parse(__doc__, "out", "report", "manifest")
    spec = read_spec(PretrainSpec, arguments.spec)
    folder = Path(arguments.out)
    identity = digest(spec.model_dump(mode="json"))
    with (
        metered(Path(arguments.manifest).parent, "pretrain", identity) as meter,
        meter.phase("train"),
        atomic_folder(folder) as target,
    ):
        report = pretrain(spec.model, target)
    write_json(Path(arguments.report), report)
    write_manifest(Path(arguments.manifest), "pretrain", spec.model_dump(mode="json"), [], hashes(folder))


if __name__ == "__main__":
    run(main)
