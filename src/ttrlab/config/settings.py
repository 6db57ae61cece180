"""The settings of sampling, training and evaluation: each defined once, with its default, here.

A study, a benchmark, a model or a method may override any field by name. ``partial`` derives the type of such an override, so
a misspelt key is refused wherever it stands.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, get_args

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, create_model, model_serializer, model_validator


class Frozen(BaseModel):
    """Base of all configuration: immutable; unknown keys, numbers that JSON cannot hold (inf, nan) and yes/no for a number refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _no_flag_for_a_number(cls, raw: Any) -> Any:
        for key, value in raw.items() if isinstance(raw, Mapping) else ():
            if isinstance(value, bool) and key in cls.model_fields:
                annotation = cls.model_fields[key].annotation
                if {int, float} & {annotation, *get_args(annotation)} and bool not in (annotation, *get_args(annotation)):
                    raise ValueError(f"{key}: expected a number, got {str(value).lower()}")
        return raw


Beta = Annotated[float, Field(ge=0, lt=1)]


class Sampling(Frozen):
    """How roll-outs are drawn. ``top_k=0`` means off; ``temperature=0`` is greedy. Lengths in tokens."""

    temperature: float = Field(1.0, ge=0)
    top_p: float = Field(1.0, gt=0, le=1)
    top_k: int = Field(0, ge=0)
    max_new_tokens: int = Field(3072, ge=1)
    max_prompt_tokens: int = Field(1024, ge=1)


class Lora(Frozen):
    """Low-rank adapters on all linear layers instead of full-parameter training."""

    rank: int = Field(64, ge=1)
    alpha: int = Field(128, gt=0)
    dropout: float = Field(0.0, ge=0, lt=1)


class Training(Frozen):
    """GRPO (methods as in verl and TTRL). One step samples ``batch`` questions and makes ``batch / mini_batch * epochs`` updates.

    ``votes`` roll-outs a question are sampled and decide the label, the first ``train`` of them are trained on. ``updates`` fixes
    the number of steps; otherwise ``episodes`` passes over the questions do. ``mini_batch`` counts questions (None: the whole
    batch), ``micro_batch`` sequences in one forward pass, which never changes the gradient.
    ``checkpoint_every`` steps a policy is kept for evaluation; ``state_every`` steps the run can be resumed from (1: a kill costs at
    most one step); ``store_rollouts_every`` steps the roll-outs are kept for audit and replay.
    """

    votes: int = Field(64, ge=1)
    train: int = Field(32, ge=2)
    batch: int = Field(8, ge=1)
    last_batch: Literal["short", "drop", "wrap"] = "short"
    episodes: int = Field(80, ge=1)
    updates: int | None = Field(None, ge=1)
    mini_batch: int | None = Field(None, ge=1)
    epochs: int = Field(1, ge=1)
    micro_batch: int = Field(64, ge=1)
    learning_rate: float = Field(5e-7, gt=0)
    schedule: Literal["cosine", "constant"] = "cosine"
    warmup_ratio: float = Field(0.03, ge=0, lt=1)
    warmup_steps: int | None = Field(None, ge=0)
    betas: tuple[Beta, Beta] = (0.9, 0.999)
    weight_decay: float = Field(0.01, ge=0)
    grad_clip: float = Field(1.0, gt=0)
    clip_low: float = Field(0.2, gt=0, lt=1)
    clip_high: float = Field(0.2, gt=0)
    dual_clip: float | None = Field(3.0, gt=1)
    kl_coefficient: float = Field(0.001, ge=0)
    kl_estimator: Literal["k1", "k2", "k3"] = "k3"
    aggregation: Literal["token-mean", "seq-mean-token-mean", "seq-mean-token-sum", "seq-mean-token-sum-norm"] = "token-mean"
    normalise: Literal["std", "none"] = "std"
    ddof: Literal[0, 1] = 1
    dtype: Literal["float32", "bfloat16"] = "float32"
    lora: Lora | None = None
    checkpoint_every: int = Field(10, ge=1)
    state_every: int = Field(1, ge=1)
    store_rollouts_every: int = Field(1, ge=1)

    @model_validator(mode="after")
    def _possible(self) -> "Training":
        if self.votes < self.train:
            raise ValueError(f"votes must be at least train (the trained roll-outs), got votes={self.votes}, train={self.train}")
        if self.mini_batch is not None and self.batch % self.mini_batch:
            raise ValueError(f"mini_batch must divide batch, got mini_batch={self.mini_batch}, batch={self.batch}")
        return self


Metric = str
"""``mean@k``, ``pass@k``, ``majority@k`` or ``greedy``; checked by ``Evaluation``."""


class Evaluation(Frozen):
    """How a checkpoint is evaluated: ``samples`` roll-outs a question, plus one greedy one if a metric asks for it.

    ``curve_every``: every how many checkpoints (beside the first and the endpoint) a learning-curve point is evaluated; 0 = only the
    endpoint. The endpoint is always the last checkpoint; nothing is selected by these numbers.
    """

    samples: int = Field(32, ge=1)
    temperature: float = Field(0.6, ge=0)
    top_p: float = Field(0.95, gt=0, le=1)
    metrics: tuple[Metric, ...] = Field(("mean@16", "pass@32"), min_length=1)
    curve_every: int = Field(1, ge=0)
    curve_samples: int = Field(16, ge=1)

    @model_validator(mode="after")
    def _known_metrics(self) -> "Evaluation":
        for metric in self.metrics:
            name, _, k = metric.partition("@")
            if not (metric == "greedy" or (name in {"mean", "pass", "majority"} and re.fullmatch(r"[1-9]\d*", k))):
                raise ValueError(f"metrics: {metric!r} is not mean@k, pass@k, majority@k or greedy")
            if k and int(k) > self.samples:
                raise ValueError(f"metrics: {metric!r} needs {k} samples, but samples={self.samples}")
        doubled = sorted({metric for metric in self.metrics if self.metrics.count(metric) > 1})
        if doubled:
            raise ValueError(f"metrics: {', '.join(doubled)} given twice")
        return self


SettingsT = TypeVar("SettingsT", bound=Frozen)


class _Override(Frozen):
    """What all overrides share: JSON holds the fields that are set and no others, so that a null is one that was written."""

    @model_serializer(mode="wrap")
    def _only_what_is_set(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {key: value for key, value in dump(self).items() if key in self.model_fields_set}


def partial(settings: type[Frozen], name: str) -> type[Frozen]:
    """A type with the same fields as ``settings``, each optional: the type of an override."""
    fields: dict[str, Any] = {key: (Union[info.annotation, None], None) for key, info in settings.model_fields.items()}  # noqa: UP007
    return create_model(name, __base__=_Override, **fields)


def overridden(base: SettingsT, *overrides: Frozen | None) -> SettingsT:
    """``base`` with the fields that each override sets, later ones winning; validated as a whole."""
    merged = base.model_dump()
    for override in overrides:
        if override is not None:
            merged |= override.model_dump(exclude_unset=True)
    return type(base).model_validate(merged)


if TYPE_CHECKING:

    class TrainingOverride(Frozen):
        """``Training`` with every field optional."""

    class SamplingOverride(Frozen):
        """``Sampling`` with every field optional."""

else:
    TrainingOverride = partial(Training, "TrainingOverride")
    SamplingOverride = partial(Sampling, "SamplingOverride")
