"""Convert a GGUF file to a model folder, once: both ends are known by their SHA-256."""

import argparse
from pathlib import Path

from ttrlab.engines.gguf import convert
from ttrlab.files import atomic_folder, sha256
from ttrlab.stages.command import run


def check(path: Path, expected: str) -> None:
    """ValueError where a file's SHA-256 is not ``expected``."""
    found = sha256(path)
    if found != expected:
        raise ValueError(f"{path}: SHA-256 is {found}, expected {expected}")


def main() -> None:
    """Write the folder ``--out``; nothing is left there unless the weights in it are the expected ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gguf", required=True, type=Path)
    parser.add_argument("--gguf-sha256", required=True)
    parser.add_argument("--weights-sha256", required=True, help="of the model.safetensors that comes out")
    parser.add_argument("--out", required=True, type=Path)
    arguments = parser.parse_args()
    check(arguments.gguf, arguments.gguf_sha256)
    with atomic_folder(arguments.out) as target:
        convert(arguments.gguf, target)
        check(target / "model.safetensors", arguments.weights_sha256)


if __name__ == "__main__":
    run(main)
