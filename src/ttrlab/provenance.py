"""Where a result comes from: the spec, hashes of inputs and outputs, the code that ran (comments ignored), versions."""

import ast
import hashlib
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from ttrlab.files import digest, sha256, write_json

PACKAGES = ("numpy", "pandas", "scipy", "pydantic", "torch", "transformers", "peft", "vllm", "openrlhf", "sympy")
ROOT = Path(__file__).parent


@cache
def code_digest(path: Path) -> str:
    """SHA-256 of a Python file's syntax tree without docstrings: layout and comments do not count."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and _has_docstring(node.body):
            node.body = node.body[1:] or [ast.Pass()]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def _has_docstring(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and isinstance(body[0].value.value, str)


def imported_code() -> dict[str, str]:
    """Module name -> code digest of every ttrlab module that this process has imported."""
    modules = {name: module.__file__ for name, module in sorted(sys.modules.items()) if name.split(".")[0] == "ttrlab"}
    return {name: code_digest(Path(file)) for name, file in modules.items() if file is not None}


def changed_code(recorded: Mapping[str, str]) -> list[str]:
    """Names of recorded modules whose code today is another, or gone."""
    return [name for name, old in recorded.items() if _today(name) != old]


def _today(module: str) -> str | None:
    relative = Path(*module.split(".")[1:])
    for candidate in (ROOT / relative / "__init__.py", ROOT / relative.with_suffix(".py") if relative.parts else ROOT / "__init__.py"):
        if candidate.is_file():
            return code_digest(candidate)
    return None


def versions() -> dict[str, str]:
    """Versions of Python and of the installed packages that numbers depend on."""
    found = {"python": ".".join(str(part) for part in sys.version_info[:3])}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def revision() -> str | None:
    """The git revision of the checkout, with ``-dirty`` when it has changes; None outside a checkout."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.strip() or None


def write_manifest(
    path: Path, stage: str, spec: Any, inputs: Mapping[str, str] | list[Path], outputs: Mapping[str, str] | list[Path]
) -> None:
    """Write a stage's manifest: what ran on what, and what came out. No clock in it, so equal runs give equal bytes.

    ``spec``: the stage's spec as JSON-able data. ``inputs``: files; ``outputs``: files beside the manifest; both may be a ready mapping
    name -> SHA-256.
    """
    read = inputs if isinstance(inputs, Mapping) else {file.name: sha256(file) for file in inputs}
    found = outputs if isinstance(outputs, Mapping) else {str(file.relative_to(path.parent)): sha256(file) for file in outputs}
    write_json(
        path,
        {
            "stage": stage,
            "spec": spec,
            "spec_digest": digest(spec),
            "inputs": dict(read),
            "outputs": dict(found),
            "code": imported_code(),
            "revision": revision(),
            "versions": versions(),
        },
    )
