"""List results that were made by other code than today's."""

from collections.abc import Iterator
from pathlib import Path

from ttrlab.files import read_json
from ttrlab.provenance import changed_code


def stale_results(results: Path) -> Iterator[tuple[Path, list[str]]]:
    """(manifest, names of changed modules) of every result below ``results`` whose stage imported code that has changed since."""
    for path in sorted(results.rglob("manifest.json")):
        changed = changed_code(read_json(path)["code"])
        if changed:
            yield path, changed


def stale_command(results: Path) -> str:
    """The list as text, one line a result; FileNotFoundError for a folder that is not there."""
    if not results.is_dir():
        raise FileNotFoundError(f"{results}: no such folder of results")
    lines = [f"{path.parent}: {len(changed)} modules changed ({', '.join(changed[:4])}...)" for path, changed in stale_results(results)]
    return "\n".join(lines) or f"{results}: every result was made by today's code"
