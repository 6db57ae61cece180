"""The files that OpenRLHF is given: prompts, and the agent file that its vLLM workers load."""

from collections.abc import Sequence
from pathlib import Path

from ttrlab.engines.openrlhf.command import RunFiles
from ttrlab.files import write_jsonl, write_text
from ttrlab.types import Question

AGENT = '''"""Written by ttrlab for one run of OpenRLHF, whose vLLM workers load it: environment variables do not reach them reliably."""

from pathlib import Path

from openrlhf.utils.agent import AgentExecutorBase

from ttrlab.stages.openrlhf_agent import GroupAgent, ray_meeting, read_binding


class AgentExecutor(GroupAgent, AgentExecutorBase):
    """Binds the run's spec by absolute path; OpenRLHF wants a constructor without arguments."""

    def __init__(self) -> None:
        binding = read_binding(Path({binding!r}))
        super().__init__(binding, ray_meeting(binding))
'''


def local_weights(model: str, revision: str | None) -> str:
    """What OpenRLHF loads: it takes no revision, so a hub model is fetched at its revision first, and a folder is named absolutely."""
    if revision is None:
        return str(Path(model).absolute())
    from huggingface_hub import snapshot_download

    return str(snapshot_download(model, revision=revision))


def write_agent(files: RunFiles) -> None:
    """Write the agent file of a run."""
    write_text(files.agent, AGENT.format(binding=str(files.binding)))


def write_prompts(files: RunFiles, schedule: Sequence[Sequence[Question]]) -> None:
    """Write the prompts file: the questions of every step, no gold, no label.

    OpenRLHF's loader always shuffles, without a seed of ours, and cannot drop, wrap or end a pass early. So a row is a ticket for one
    question of some step: which question a ticket stands for is decided by the schedule when it is drawn, in whatever order that happens.
    """
    write_jsonl(
        files.prompts,
        ({"input": question.prompt, "step": step, "id": question.id} for step, batch in enumerate(schedule, 1) for question in batch),
    )
