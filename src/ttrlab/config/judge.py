"""Configuration of a judge: where it runs, which model it is, and how a rectifier is trained. Defaults are TRUER's (Table 5)."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, model_validator

from ttrlab.config.settings import Frozen, Lora, Training, TrainingOverride, overridden

Wording = Literal["math", "arithmetic", "lab"]
"""Names of the judge's prompts (``ttrlab.rectifier.prompt.PROMPTS``)."""


class JudgeLimits(Frozen):
    """Token limits of a judge (TRUER, Table 5): prompt, output, and both together."""

    input_tokens: int = Field(4096, ge=1)
    output_tokens: int = Field(4096, ge=1)
    context_tokens: int = Field(8192, ge=2)

    @model_validator(mode="after")
    def _within_context(self) -> "JudgeLimits":
        if self.input_tokens + self.output_tokens > self.context_tokens:
            raise ValueError(
                f"input_tokens + output_tokens must be at most context_tokens, got {self.input_tokens} + {self.output_tokens}"
                f" > {self.context_tokens}"
            )
        return self


class ProcessHome(Frozen):
    """The judge runs in the adapting process, on its engine."""

    home: Literal["process"] = "process"


class ServerHome(Frozen):
    """The judge is served by an OpenAI-compatible server, e.g. vLLM.

    ``url``: without ``/v1``. ``served_model``: the name that the server knows it by. ``concurrency``: requests in flight;
    ``request_seconds``: limit of one request; ``restart_seconds``: how long a server that does not answer is waited for before the cell
    stops.
    """

    home: Literal["server"] = "server"
    url: str = Field(pattern=r"^https?://[^/]+$")
    served_model: str
    concurrency: int = Field(64, ge=1)
    request_seconds: float = Field(600, gt=0)
    restart_seconds: float = Field(900, ge=0)


class StoredHome(Frozen):
    """Judgements made earlier, for replay. ``path``: a pool file whose roll-outs carry judgements, or a folder of such files."""

    home: Literal["stored"] = "stored"
    path: str


Alpha = Annotated[float, Field(gt=0)]
JudgeHome = Annotated[ProcessHome | ServerHome | StoredHome, Field(discriminator="home")]


class WarmUp(Frozen):
    """Label-free ``updates`` by majority vote on the questions of the catalogue entry ``benchmark``, which may hold targets: no answer is
    read (TRUER's Math-1.5B row: one round on all of MATH-500)."""

    benchmark: str
    updates: int = Field(ge=1)


class RectifierSource(Frozen):
    """Where the rectifier's labelled candidates come from.

    ``benchmark``, ``calibration``: catalogue entries of the questions to fit on and to select the checkpoint on, disjoint from each
    other and from every target. ``policy``: the catalogue model that samples the candidates (None: the cell's own model), after a
    ``warm_up`` if there is one. ``candidates`` roll-outs a question. ``alphas``: priorities of majority-correct, majority-wrong,
    minority-correct, minority-wrong.
    """

    benchmark: str
    calibration: str
    policy: str | None = None
    warm_up: WarmUp | None = None
    candidates: int = Field(32, ge=1)
    temperature: float = Field(1.0, gt=0)
    alphas: tuple[Alpha, Alpha, Alpha, Alpha] = (1, 3, 3, 1)


RECTIFIER_TRAINING = Training(
    votes=32,
    train=32,
    batch=16,
    learning_rate=5e-6,
    schedule="constant",
    warmup_ratio=0.0,
    weight_decay=0.01,
    clip_low=0.2,
    clip_high=0.2,
    kl_coefficient=0.01,
    lora=Lora(rank=64, alpha=128),
    checkpoint_every=25,
)
"""The engine's settings for a rectifier; ``batch`` counts candidates. TRUER gives no schedule: constant is an assumption."""


class RectifierTraining(Frozen):
    """How the rectifier learns: ``updates`` of ``judgements`` a candidate, and the sizes that equal-reward groups are expanded to.

    ``warm_start_updates``: supervised updates on written judgements before the reinforcement learning, for a world that has such texts (the
    lab, generated arithmetic), ``warm_start_batch`` candidates each, at the learning rate ``warm_start_rate``.
    """

    updates: int = Field(150, ge=1)
    judgements: int = Field(8, ge=2)
    expansion: tuple[int, ...] = (16, 32)
    temperature: float = Field(1.0, gt=0)
    warm_start_updates: int = Field(0, ge=0)
    warm_start_batch: int = Field(64, ge=1)
    warm_start_rate: float = Field(3e-4, gt=0)
    training: TrainingOverride | None = None

    @model_validator(mode="after")
    def _growing(self) -> "RectifierTraining":
        if list(self.sizes) != sorted(set(self.sizes)):
            raise ValueError(f"expansion must grow from judgements={self.judgements}, got {self.expansion}")
        if self.training is not None and "updates" in self.training.model_fields_set:
            raise ValueError("updates stands beside training, not in it")
        return self

    @property
    def sizes(self) -> tuple[int, ...]:
        """Group sizes in the order in which they are tried."""
        return (self.judgements, *self.expansion)

    @property
    def steps(self) -> int:
        """All updates: warm start, then reinforcement learning."""
        return self.warm_start_updates + self.updates

    @property
    def checkpoint_steps(self) -> tuple[int, ...]:
        """Steps after which a checkpoint is kept: the warm start's last, every ``checkpoint_every``-th update after it, and the last."""
        start = self.warm_start_updates
        every = range(start + self.settings.checkpoint_every, self.steps + 1, self.settings.checkpoint_every)
        return tuple(sorted({*((start,) if start else ()), *every, self.steps}))

    @property
    def settings(self) -> Training:
        """The engine's settings: the defaults of a rectifier with this entry's overrides."""
        return overridden(RECTIFIER_TRAINING, self.training).model_copy(update={"updates": self.updates})


class CheckpointSelection(Frozen):
    """Which checkpoint is frozen, by its judgements on the calibration questions.

    Checkpoints whose invalid share exceeds ``max_invalid`` come last. Among the others the highest ``by`` wins: ``accuracy`` (invalid
    counts as an error) or ``balanced``, 1 - (wrong accepted + correct withheld) / 2, which the mix of right and wrong candidates does
    not sway. Ties: fewer wrong accepted, fewer correct withheld, fewer invalid, then the earliest.
    """

    by: Literal["accuracy", "balanced"] = "accuracy"
    max_invalid: float = Field(0.05, ge=0, le=1)


class Rectifier(Frozen):
    """A rectifier: trained once, then reused by every cell whose judge names an equal entry, whatever the target benchmark and the cell's
    own seed (TRUER's three seeds of Table 4 share one). ``seed``: of its source roll-outs and its training."""

    source: RectifierSource
    training: RectifierTraining = RectifierTraining()
    selection: CheckpointSelection = CheckpointSelection()
    seed: int = Field(0, ge=0)


class JudgeConfig(Frozen):
    """The judge of a method: a catalogue ``model``, as it is (``rectifier: null``, the untrained control) or trained as ``rectifier`` says.

    ``prompt`` names the wording.
    """

    model: str
    rectifier: Rectifier | None = None
    home: JudgeHome = ProcessHome()
    prompt: Wording = "math"
    limits: JudgeLimits = JudgeLimits()

    @model_validator(mode="after")
    def _written_judgements(self) -> "JudgeConfig":
        if self.rectifier is not None and self.rectifier.training.warm_start_updates and self.prompt == "math":
            raise ValueError(
                "rectifier.training.warm_start_updates needs written judgements, which only the generated questions have"
                " (prompt: lab or arithmetic), got prompt: math"
            )
        return self

    @property
    def trained(self) -> bool:
        """False for a model that is used as it is."""
        return self.rectifier is not None

    def names(self) -> Iterator[tuple[str, str]]:
        """(kind, name) of the catalogue entries that are mentioned."""
        yield "models", self.model
        if self.rectifier is not None:
            source = self.rectifier.source
            yield from (("benchmarks", name) for name in (source.benchmark, source.calibration))
            if source.policy is not None:
                yield "models", source.policy
            if source.warm_up is not None:
                yield "benchmarks", source.warm_up.benchmark
