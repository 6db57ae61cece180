"""Opening the judge that a method's configuration describes."""

from collections.abc import Callable, Mapping
from itertools import chain
from pathlib import Path

from ttrlab.config.catalogue import PromptStyle
from ttrlab.config.judge import ProcessHome, ServerHome
from ttrlab.config.specs import JudgeSpec
from ttrlab.engines.base import Sampler
from ttrlab.pools import read_pool
from ttrlab.rectifier.judge import CountTokens, Judge, SamplerJudge, judge_identity
from ttrlab.rectifier.prompt import PROMPTS, judge_style
from ttrlab.rectifier.server import ServerJudge
from ttrlab.rectifier.stored import CachedJudge, StoredJudge

OpenSampler = Callable[[PromptStyle], tuple[Sampler, CountTokens]]
"""Loads the judge's weights into an engine with the given prompt style; gives its sampler and its count of a prompt's tokens."""


def open_judge(spec: JudgeSpec, rectifier: str, load: OpenSampler, questions: Mapping[str, str], cache: Path) -> Judge:
    """The judge of a spec, behind a cache in the file ``cache`` unless it replays.

    ``rectifier``: hash of the frozen rectifier's weights (``frozen_record``), or name and revision of a model used as it is. ``load`` is
    called only for a judge in this process. ``questions``: question id -> text, read only by a stored judge.
    """
    prompt, limits, style = PROMPTS[spec.form.wording], spec.form.limits, judge_style(spec.form.style)
    if isinstance(spec.home, ProcessHome):
        sampler, count = load(style)
        return CachedJudge(SamplerJudge(sampler, count, prompt, limits, rectifier), cache)
    if isinstance(spec.home, ServerHome):
        return CachedJudge(ServerJudge(spec.home, prompt, limits, rectifier, style), cache)
    files = pool_files(Path(spec.home.path))
    rows = chain.from_iterable(read_pool(file) for file in files)
    return StoredJudge.from_pool(judge_identity(rectifier, prompt, limits), rows, questions)


def pool_files(path: Path) -> list[Path]:
    """The pool file ``path``, or all pool files of a folder in the order of their names; FileNotFoundError when there are none."""
    files = [path] if path.is_file() else sorted(path.glob("*.jsonl.gz"))
    if not files:
        raise FileNotFoundError(f"{path}: neither a pool file nor a folder with *.jsonl.gz files")
    return files
