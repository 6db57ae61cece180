"""JSON schemas of the YAML files, generated from the types."""

from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from ttrlab.config.catalogue import KINDS
from ttrlab.config.study import Study
from ttrlab.files import write_json


def schemas() -> dict[str, Any]:
    """File name -> JSON schema of a study and of each kind of catalogue file."""
    adapters: dict[str, TypeAdapter[Any]] = {"study": TypeAdapter(Study), **KINDS}
    return {f"{name}.json": adapter.json_schema() for name, adapter in adapters.items()}


def write_schemas(folder: Path) -> str:
    """Write them; returns what was written."""
    for name, schema in schemas().items():
        write_json(folder / name, schema)
    return f"wrote {', '.join(schemas())} to {folder}"
