"""The judge behind a spec, opened for the stages that ask it."""

from collections.abc import Sequence
from pathlib import Path

from ttrlab.config.catalogue import PromptStyle
from ttrlab.config.specs import JudgeSpec
from ttrlab.engines import open_sampler
from ttrlab.engines.base import Sampler
from ttrlab.files import digest, read_json
from ttrlab.rectifier.homes import open_judge
from ttrlab.rectifier.judge import CountTokens, Judge
from ttrlab.stages import rundir
from ttrlab.types import Question


def judge_of(spec: JudgeSpec, weights: str, frozen: Path | None, questions: Sequence[Question], cache: Path) -> Judge:
    """The judge of a spec, behind the ``cache`` file so that a redone step asks nothing twice.

    ``frozen``: the record of a trained rectifier; ValueError when it is missing, or when weights, prompt or limits are not those it froze.
    """

    def load(style: PromptStyle) -> tuple[Sampler, CountTokens]:
        sampler = open_sampler(spec.engine, weights, spec.form.revision if frozen is None else None, style, "math")
        return sampler, sampler.prompt_tokens

    if spec.trained != (frozen is not None):
        raise ValueError(f"--frozen is the record of a trained rectifier: trained is {spec.trained}, --frozen is {frozen}")
    texts = {question.id: question.prompt for question in questions}
    judge = open_judge(spec, digest(rundir.model_identity(weights)), load, texts, cache)
    if frozen is not None and judge.identity != (recorded := read_json(frozen)["identity"]):
        raise ValueError(f"{weights}: as a judge it is {judge.identity}, but {frozen} froze {recorded}")
    return judge
