"""A judge's server as a process on a port of its own, which can be killed and started again."""

import socket
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parent / "http_judge.py"


class Served:
    def __init__(self, folder: Path):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.log, self.process = folder / "requests.log", None

    def start(self, *options: str) -> None:
        self.process = subprocess.Popen([sys.executable, str(SCRIPT), str(self.port), str(self.log), *options])

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    @property
    def answered(self) -> int:
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0
