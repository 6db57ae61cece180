"""What a study refers to by name: models, benchmarks, methods. One YAML mapping a file, name -> entry."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import yaml
from pydantic import BaseModel, Field, TypeAdapter, ValidationError, model_validator

from ttrlab.config.arithmetic import TwoDigit
from ttrlab.config.continuation import Continuation
from ttrlab.config.judge import JudgeConfig
from ttrlab.config.lab import LabBenchmark, LabModel
from ttrlab.config.settings import Frozen, SamplingOverride, TrainingOverride
from ttrlab.rewards import RewardRule

AnswerKind = Literal["math", "choice", "integer"]
BOXED = "Please reason step by step, and put your final answer within \\boxed{}."
LETTER = "Please reason step by step, and put the letter of your choice alone within \\boxed{}."


class PromptStyle(Frozen):
    """How a question becomes a prompt. ``plain``: the text as it is; ``chat``: the tokenizer's chat template.

    ``where`` says in which turn the instruction stands. ``none`` is for models whose template carries the mathematical one; the
    instruction to give a letter, which no template carries, then stands in the user's turn. ``demonstrations`` are
    (question, answer) turns before the question. ``template_arguments`` go to the chat template, e.g. ``enable_thinking: false``.
    """

    template: Literal["chat", "plain"] = "chat"
    where: Literal["user", "system", "none"] = "user"
    instruction: str = BOXED
    choice_instruction: str = LETTER
    demonstrations: tuple[tuple[str, str], ...] = ()
    template_arguments: dict[str, bool] = Field(default_factory=dict)

    def messages(self, problem: str, kind: AnswerKind) -> list[dict[str, str]]:
        """The chat turns for one problem."""
        instruction = self.choice_instruction if kind == "choice" else self.instruction
        system = [{"role": "system", "content": instruction}] if self.where == "system" else []
        shots = [
            {"role": role, "content": text}
            for question, answer in self.demonstrations
            for role, text in (("user", question), ("assistant", answer))
        ]
        in_user = self.where == "user" or (self.where == "none" and kind == "choice")
        user = f"{problem}\n{instruction}" if in_user else problem
        return [*system, *shots, {"role": "user", "content": user}]


class _Model(Frozen):
    """What every model entry may say. ``parameters``: their number, for the cost model. ``licence``: its identifier on the hub."""

    prompt: PromptStyle = PromptStyle()
    parameters: int | None = Field(None, ge=1)
    licence: str | None = None
    sampling: SamplingOverride | None = None
    training: TrainingOverride | None = None


class HubModel(_Model):
    """A model on the Hugging Face hub."""

    source: Literal["hub"] = "hub"
    id: str
    revision: str = "main"


class PathModel(_Model):
    """A Hugging Face model folder on disk."""

    source: Literal["path"] = "path"
    path: str


class LabPolicy(_Model, LabModel):
    """A lab model as a policy: its prompts are plain text."""

    prompt: PromptStyle = PromptStyle(template="plain", where="none")
    licence: str | None = "apache-2.0"


Model = Annotated[HubModel | PathModel | LabPolicy, Field(discriminator="source")]


class Split(Frozen):
    """A seeded partition of a benchmark's rows: ``parts`` name -> size, ``use`` the part that this entry is."""

    seed: int = Field(0, ge=0)
    parts: dict[str, Annotated[int, Field(ge=1)]]
    use: str

    @model_validator(mode="after")
    def _known_part(self) -> "Split":
        if self.use not in self.parts:
            raise ValueError(f"use: {self.use!r} is not one of the parts {sorted(self.parts)}")
        return self


class Columns(Frozen):
    """Names of a benchmark file's columns. ``id`` None: rows are numbered. ``options``: columns of a multiple-choice question's wrong
    options, ``answer`` then holds the right one and the loader shuffles them by the benchmark's ``seed``."""

    id: str | None = None
    question: str = "problem"
    answer: str = "answer"
    level: str | None = None
    subject: str | None = None
    options: tuple[str, ...] = ()


class _Benchmark(Frozen):
    """What every benchmark entry states. ``rows``: number of questions after filter and split, so that planning downloads nothing.

    ``publishable: false``: items are never printed into reports (GPQA's authors ask for it).
    """

    kind: AnswerKind = "math"
    rows: int = Field(ge=1)
    publishable: bool = True
    sampling: SamplingOverride | None = None
    training: TrainingOverride | None = None


class _Rows(_Benchmark):
    """Rows in columns, from the hub or from a file. ``where`` keeps rows whose column equals the value.

    ``duplicates``: a question whose normalised text stands in an earlier row is refused by place, or only the ``first`` is kept.
    """

    columns: Columns = Columns()
    where: dict[str, str | int] = Field(default_factory=dict)
    duplicates: Literal["refuse", "first"] = "refuse"
    split: Split | None = None
    seed: int = Field(0, ge=0)


class HubBenchmark(_Rows):
    """A data set on the Hugging Face hub."""

    source: Literal["hub"] = "hub"
    id: str
    config: str | None = None
    revision: str = "main"
    hub_split: str = "test"


class PathBenchmark(_Rows):
    """A JSONL, JSON, CSV or parquet file on disk, by its ending."""

    source: Literal["path"] = "path"
    path: str


class GeneratedBenchmark(_Benchmark, LabBenchmark):
    """Questions from the lab's generator."""

    kind: AnswerKind = "integer"

    @model_validator(mode="after")
    def _rows_are_the_mix(self) -> "GeneratedBenchmark":
        if sum(self.mix.values()) != self.rows:
            raise ValueError(f"rows: {self.rows} given, but the mix adds up to {sum(self.mix.values())}")
        return self


class ArithmeticBenchmark(_Benchmark, TwoDigit):
    """Generated two-digit sums or products."""

    kind: AnswerKind = "integer"


Benchmark = Annotated[HubBenchmark | PathBenchmark | GeneratedBenchmark | ArithmeticBenchmark, Field(discriminator="source")]


class Method(Frozen):
    """A method: a reward rule, and the settings that it changes. No ``reward``: the model as it is, without adaptation.

    ``gold: true`` is the oracle's alone; a rule that asks for gold in a method that does not say so is refused. ``judge``: who scores the
    roll-outs that the rule asks about. ``continues``: the rule, judge and settings are those of the continued method.
    """

    reward: RewardRule | None = None
    gold: bool = False
    judge: JudgeConfig | None = None
    continues: Continuation | None = None
    training: TrainingOverride | None = None
    sampling: SamplingOverride | None = None

    @model_validator(mode="after")
    def _gold_on_purpose(self) -> "Method":
        asks = self.reward is not None and self.reward.needs_gold
        if asks and not self.gold:
            raise ValueError(f"reward: rule {self.reward.rule!r} asks for gold, but the method does not say gold: true")  # type: ignore[union-attr]
        if self.gold and not asks:
            raise ValueError("gold: true, but no rule of this method reads it")
        if self.judge is not None and (self.reward is None or not self.reward.needs_judge):
            raise ValueError("judge: given, but no rule of this method asks one")
        return self


class Catalogue(Frozen):
    """All models, benchmarks and methods that a study may name."""

    models: dict[str, Model]
    benchmarks: dict[str, Benchmark]
    methods: dict[str, Method]


Entry = TypeVar("Entry", bound=BaseModel)
KINDS: Mapping[str, TypeAdapter[dict]] = {
    "models": TypeAdapter(dict[str, Model]),
    "benchmarks": TypeAdapter(dict[str, Benchmark]),
    "methods": TypeAdapter(dict[str, Method]),
}


def load_catalogue(folder: Path) -> Catalogue:
    """Read ``folder``/{models,benchmarks,methods}/*.yaml; ValueError names the file and key of a bad or doubled entry."""
    catalogue = Catalogue.model_validate({kind: _load_kind(folder / kind, adapter) for kind, adapter in KINDS.items()})
    methods = {name: _continued(f"{folder / 'methods'}: {name}", entry, catalogue.methods) for name, entry in catalogue.methods.items()}
    return catalogue.model_copy(update={"methods": methods})


def _continued(where: str, entry: Method, methods: Mapping[str, Method]) -> Method:
    """A continuation with the rule and judge of the method that it continues; every other entry as it is."""
    if entry.continues is None:
        return entry
    if entry.reward is not None or entry.gold or entry.judge is not None:
        raise ValueError(f"{where}: continues gives the rule and judge, so reward, gold and judge must not be given")
    for key, name in (("method", entry.continues.method), ("of", entry.continues.of)):
        other = methods.get(name)
        if other is None or other.reward is None or other.gold or other.continues is not None:
            raise ValueError(f"{where}: continues.{key}: {name!r} is not a method that adapts without gold and from the model as given")
    parent = methods[entry.continues.method]
    return entry.model_copy(update={"reward": parent.reward, "judge": parent.judge})


def _load_kind(folder: Path, adapter: TypeAdapter[dict]) -> dict[str, BaseModel]:
    entries: dict[str, BaseModel] = {}
    home: dict[str, Path] = {}
    for path in sorted(folder.glob("*.yaml")):
        raw = read_yaml(path)
        for name in raw:
            if name in entries:
                raise ValueError(f"{path}: {name!r} is already defined in {home[name]}")
        try:
            entries |= adapter.validate_python(raw)
        except ValidationError as error:
            raise ValueError(explain(error, str(path))) from None
        home |= dict.fromkeys(raw, path)
    if not entries:
        raise ValueError(f"{folder}: no entries; expected *.yaml files with name -> entry")
    return entries


def read_yaml(path: Path) -> dict[str, object]:
    """One YAML mapping with string keys; ValueError names the file otherwise."""
    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not YAML ({error})") from error
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise ValueError(f"{path}: expected a mapping of names to entries, got {type(value).__name__}")
    return value


def explain(error: ValidationError, where: str) -> str:
    """A pydantic error as one line a fault: full path of the key, what is wrong, what was given."""
    return "\n".join(
        _explain_fault(where, fault["loc"], fault["msg"].removeprefix("Value error, "), fault["input"]) for fault in error.errors()
    )


def _explain_fault(where: str, key: tuple[int | str, ...], message: str, given: object) -> str:
    if not key:
        return f"{where}: {message}"
    return f"{where}: {'.'.join(map(str, key))}: {message} (given: {str(given)[:80]})"
