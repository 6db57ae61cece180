"""A SLURM cluster of four nodes on this one machine: Debian's daemons, accounting in MariaDB, munge, and GPUs that are names for /dev/null.

It installs packages and writes /etc/slurm, so it refuses to start unless the environment says that the machine may be changed.
"""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

PERMISSION = "TTRLAB_DISPOSABLE_MACHINE"
"""Environment variable that must be 1: this machine may get packages, /etc/slurm, /dev/fakegpu0-3 and daemons."""

PACKAGES = "slurmctld slurmd slurmdbd slurm-client slurm-wlm-mysql-plugin munge mariadb-server".split()
NODES = ("c1", "c2", "g1", "g2")
ETC, MUNGE, TEMPLATES = Path("/etc/slurm"), Path("/run/munge"), Path(__file__).parent / "conf"
DAEMONS = (*(f"slurmd.{node}" for node in NODES), "slurmctld", "slurmdbd", "mariadb", "munged")
"""Names of the pid files, in the order of stopping."""


def check_permission() -> None:
    """RuntimeError that names what is missing unless this machine is disposable, Debian's, and ours to change."""
    if os.environ.get(PERMISSION) != "1":
        raise RuntimeError(
            f"this test installs SLURM and MariaDB and writes {ETC}: it runs only on a machine that may be thrown away afterwards."
            f" If this is one: {PERMISSION}=1 make test-slurm"
        )
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise RuntimeError(f"{PERMISSION}=1, but this is not root on Debian (user id {os.geteuid()}, apt-get: {shutil.which('apt-get')})")
    if (ETC / "slurm.conf").exists():
        raise RuntimeError(f"{ETC}/slurm.conf exists: SLURM is configured here, or a killed test left its own (then remove {ETC})")


def install() -> None:
    """Install what is missing of ``PACKAGES``; their services are not started here, there need be no systemd."""
    known = subprocess.run(["dpkg-query", "-W", "-f", "${Status}\n", *PACKAGES], capture_output=True, text=True, check=False)
    if known.stdout.count("install ok installed") == len(PACKAGES):
        return
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], check=True)
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *PACKAGES]
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)


def wait_for(condition: Callable[[], object], what: str, seconds: float = 60, pause: float = 0.2) -> None:
    """Wait until ``condition`` is true; RuntimeError says what never happened."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"waited {seconds:g} s for {what}")
        time.sleep(pause)


def output(*command: str) -> str:
    """A command's stdout; RuntimeError with its stderr when it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def succeeds(*command: str) -> bool:
    """True when the command exits with 0."""
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def alive(pid: int) -> bool:
    """True when the process exists and has not ended."""
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


@dataclass(frozen=True)
class Cluster:
    """The running daemons; everything they write lies in ``root``, and /etc/slurm links there."""

    root: Path

    def start(self) -> None:
        """Write the configuration and start munge, MariaDB, slurmdbd, slurmctld and four slurmd."""
        for folder in ("run", "log", "state", "etc", *(f"spool/{node}" for node in NODES)):
            (self.root / folder).mkdir(parents=True)
        for folder in ("run", "log"):
            (self.root / folder).chmod(0o777 if folder == "run" else 0o755)
        self._configure()
        self._start_munge()
        self._start_database()
        self._daemon("slurmdbd")
        wait_for(lambda: succeeds("sacctmgr", "-n", "show", "cluster"), "slurmdbd")
        for words in ("cluster tcl", "account exp Description=exp Organization=exp", "user root Account=exp DefaultAccount=exp"):
            output("sacctmgr", "-i", "add", *words.split())
        self._daemon("slurmctld")
        wait_for(lambda: succeeds("scontrol", "ping"), "slurmctld")
        for node in NODES:
            self.start_node(node)
        wait_for(lambda: all(self.state(node) == "idle" for node in NODES), "four idle nodes")

    def _configure(self) -> None:
        ETC.mkdir(exist_ok=True)
        for template in sorted(TEMPLATES.glob("*.in")):
            text = template.read_text().replace("@ROOT@", str(self.root)).replace("@HOST@", socket.gethostname().split(".")[0])
            path = self.root / "etc" / template.stem
            path.write_text(text)
            path.chmod(0o600 if template.stem == "slurmdbd.conf" else 0o644)
            if template.stem.startswith(("slurm", "gres")):
                link = ETC / template.stem  # jobs look for the default path
                link.unlink(missing_ok=True)
                link.symlink_to(path)
        for number in range(4):
            if not (device := Path(f"/dev/fakegpu{number}")).exists():
                output("mknod", "-m", "666", str(device), "c", "1", "3")

    def _start_munge(self) -> None:
        key = self.root / "etc/munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        MUNGE.mkdir(exist_ok=True)
        shutil.chown(MUNGE, "root")
        MUNGE.chmod(0o755)
        files = {"socket": MUNGE / "munge.socket.2", "key-file": key, "log-file": self.root / "log/munged.log"}
        files |= {"pid-file": self.root / "run/munged.pid", "seed-file": self.root / "run/munged.seed"}
        output("munged", "--force", *(f"--{name}={path}" for name, path in files.items()))

    def _start_database(self) -> None:
        data, socket_file = self.root / "db", self.root / "run/mysqld.sock"
        output("mariadb-install-db", "--user=mysql", f"--datadir={data}", "--auth-root-authentication-method=normal", "--skip-test-db")
        (self.root / "log/mariadb.log").touch()
        shutil.chown(self.root / "log/mariadb.log", "mysql")
        subprocess.Popen(
            ["mariadbd", f"--defaults-file={self.root}/etc/my.cnf"], start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        wait_for(lambda: succeeds("mariadb-admin", f"--socket={socket_file}", "ping"), "MariaDB")
        statements = "CREATE DATABASE slurm_acct_db; CREATE USER slurm@'127.0.0.1' IDENTIFIED BY 'slurm';"
        output("mariadb", f"--socket={socket_file}", "-e", f"{statements} GRANT ALL ON slurm_acct_db.* TO slurm@'127.0.0.1';")

    def _daemon(self, name: str, *arguments: str) -> None:
        """Start a daemon that goes to the background by itself, with its output in a file: a pipe would stay open with it."""
        with open(self.root / f"log/{name}.start", "ab") as log:
            done = subprocess.run([name, *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False)
        if done.returncode:
            raise RuntimeError(f"{name} did not start: {(self.root / f'log/{name}.start').read_text()[-500:]}")

    def start_node(self, node: str) -> None:
        """Start one node's slurmd."""
        self._daemon("slurmd", "-N", node)

    def state(self, node: str) -> str:
        """A node's state in one word, as ``sinfo`` has it."""
        return output("sinfo", "-h", "-n", node, "-o", "%T").split("\n")[0].rstrip("*")

    def pid(self, daemon: str) -> int | None:
        """The process of a daemon; None when it does not run (a zombie that nobody has waited for does not)."""
        file = self.root / f"run/{daemon}.pid"
        text = file.read_text().strip() if file.exists() else ""
        return int(text) if text and alive(int(text)) else None

    def stop(self) -> None:
        """Stop every daemon by its pid and remove the links in /etc and the devices."""
        for daemon in DAEMONS:
            if (pid := self.pid(daemon)) is not None:
                os.kill(pid, 15)
                wait_for(lambda daemon=daemon: self.pid(daemon) is None, f"the end of {daemon}")
        for path in (*(path for path in ETC.glob("*.conf") if path.is_symlink()), *Path("/dev").glob("fakegpu*")):
            path.unlink()
