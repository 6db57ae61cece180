"""After a killed run: stop what it left running, here and on the cluster, so that the next run starts from files that nobody writes."""

from pathlib import Path

import psutil

from ttrlab.stages import slurm

PATIENCE_SECONDS = 60
"""An adaptation ends at its next step boundary when asked; after this long it is killed, and loses that step."""


def processes_in(folder: Path, word: str) -> list[psutil.Process]:
    """Processes of this machine, other than this one and its parents, that work in ``folder`` and have ``word`` in their command."""
    own = {process.pid for process in (psutil.Process(), *psutil.Process().parents())}
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid not in own and process.cwd() == str(folder) and any(word in part for part in process.cmdline()):
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            continue  # it ended meanwhile, or is another user's
    return found


def recover_command(folder: Path) -> str:
    """Stop the SLURM jobs and the stages that a dead workflow left in ``folder``.

    RuntimeError when a workflow is alive there, naming its process. A job's own Snakemake, which is given ``--target-jobs``, is none,
    and neither is the shell that started it.
    """
    folder = folder.resolve()
    alive = [
        process
        for process in processes_in(folder, "snakemake")
        if not any(word in part for part in process.cmdline() for word in ("ttrlab.stages.", "--target-jobs"))
    ]
    if alive:
        raise RuntimeError(f"{folder}: a workflow is running here (process {alive[0].pid}); stop it, or wait for it")
    jobs = slurm.cancel_jobs_of(folder) if slurm.submitted_from(folder) else 0
    orphans = processes_in(folder, "ttrlab.stages.")
    for process in orphans:
        process.terminate()
    _, stubborn = psutil.wait_procs(orphans, timeout=PATIENCE_SECONDS)
    for process in stubborn:
        process.kill()
    psutil.wait_procs(stubborn, timeout=10)
    found = {"SLURM jobs": jobs, "processes": len(orphans)}
    stopped = " and ".join(f"{number} {what}" for what, number in found.items() if number)
    return f"stopped {stopped} of a killed run" if stopped else "nothing was left running"
