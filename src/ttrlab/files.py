"""Files that are either whole or absent: written to a temporary name, fsynced, renamed; and the hashes that prove it."""

import fcntl
import gzip
import hashlib
import io
import json
import os
import shutil
import socket
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

HASHES = "hashes.json"


@contextmanager
def atomic(path: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file beside ``path`` for writing; on success fsync and rename it to ``path``, on any error remove it."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Make a rename inside ``path`` survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def dumps(value: Any) -> str:
    """Canonical JSON: sorted keys, no NaN, UTF-8; the same value gives the same bytes."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text atomically."""
    with atomic(path) as handle:
        handle.write(text.encode())


def write_json(path: Path, value: Any) -> None:
    """Write one indented JSON value with sorted keys, atomically. NaN is refused: a missing number is null."""
    write_text(path, json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, indent=1) + "\n")


def read_json(path: Path) -> Any:
    """Read one JSON value; ValueError names the file when it is not JSON."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not a JSON file ({error})") from error


def write_jsonl(path: Path, rows: Iterable[Any]) -> None:
    """Write rows as JSON lines atomically; a name ending in .gz is compressed with a fixed header, so equal rows give equal bytes."""
    with atomic(path) as handle:
        if Path(path).suffix == ".gz":
            packed = gzip.GzipFile(filename="", mode="wb", fileobj=handle, mtime=0, compresslevel=6)
            with packed, io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as text:
                text.writelines(dumps(row) + "\n" for row in rows)
        else:
            for row in rows:
                handle.write(dumps(row).encode() + b"\n")


def read_jsonl(path: Path) -> Iterator[Any]:
    """Yield the rows of a JSON-lines file (.gz or plain), one at a time; ValueError names the file and line of a broken row."""
    opened: IO[str] = (
        gzip.open(path, "rt", encoding="utf-8") if Path(path).suffix == ".gz" else open(path, encoding="utf-8")  # noqa: SIM115
    )
    with opened as handle:
        done = 0
        try:
            for line in handle:
                if line.strip():
                    yield json.loads(line)
                done += 1
        except (json.JSONDecodeError, UnicodeDecodeError, EOFError, gzip.BadGzipFile) as error:
            raise ValueError(f"{path}, line {done + 1}: not valid JSON lines ({error})") from error


def sha256(path: Path) -> str:
    """Hex SHA-256 of a file's bytes."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def digest(value: Any) -> str:
    """Hex SHA-256 of a value's canonical JSON."""
    return hashlib.sha256(dumps(value).encode()).hexdigest()


def hashes(folder: Path) -> dict[str, str]:
    """Relative path -> SHA-256 of every file below ``folder``, sorted by path."""
    return {str(p.relative_to(folder)): sha256(p) for p in sorted(Path(folder).rglob("*")) if p.is_file()}


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """A temporary folder beside ``path``; on success its files are fsynced, hashed into ``hashes.json`` and it is renamed to ``path``.

    An older folder of that name is replaced. On any error the temporary folder is removed and ``path`` is as it was.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp"))
    try:
        yield temporary
        write_json(temporary / HASHES, hashes(temporary))
        for file in temporary.rglob("*"):
            if file.is_file():
                with open(file, "rb") as handle:
                    os.fsync(handle.fileno())
        temporary.chmod(0o755)
        if path.exists():
            shutil.rmtree(path)
        os.replace(temporary, path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    sync_directory(path.parent)


def is_whole(folder: Path) -> bool:
    """True when ``folder`` was finished by ``atomic_folder`` and every file still has its hash."""
    record = folder / HASHES
    if not record.is_file():
        return False
    found = hashes(folder)
    found.pop(HASHES)
    return found == read_json(record)


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock file ``path`` while the block runs; RuntimeError names the process that holds it already.

    The lock is the kernel's, so it ends with its owner, however that ends.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a+", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.seek(0)
            raise RuntimeError(f"{path}: another run works in this folder ({handle.read().strip()}); stop it or wait for it") from None
        handle.truncate(0)
        handle.write(f"process {os.getpid()} on {socket.gethostname()}")
        handle.flush()
        yield
