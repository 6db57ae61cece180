"""Roll-outs of other tools as pool rows. No reward, score, label or gold that a file may hold is read here.

``pool``    our own: a group a line (see ``ttrlab.pools``)
``jsonl``   a roll-out a line: question_id, text; optional logprobs (one number a token, nats), truncated, step. The lines of a group
            stand together.
``verl``    TTRL's and verl's ``trainer.rollout_data_dir`` and ``validation_data_dir``, <step>.jsonl: input, output, step
``openrlhf``  what an OpenRLHF executor returns, a roll-out a line, with its text: prompt, response; optional rollout_log_probs with
            action_ranges, truncated, step. OpenRLHF's own batch inference writes input and output, so it reads as ``verl``.
``lm-eval``   lm-evaluation-harness ``--log_samples``, samples_<task>_<date>.jsonl: doc_id, resps (all repeats), arguments

Roll-outs without token numbers have no confidence: rules that need one are refused.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttrlab import grading, signals
from ttrlab.config.catalogue import AnswerKind
from ttrlab.pools import PoolRow
from ttrlab.replay import prompts
from ttrlab.replay.fields import as_text, flag, identifier, numbers_or_none, step_of, text_of
from ttrlab.replay.prompts import Identify
from ttrlab.replay.rows import Fault, Line, Located, pool_rows, read_lines
from ttrlab.seeds import stream
from ttrlab.types import Rollout

Lines = Iterator[Line | Fault]


@dataclass(frozen=True, slots=True)
class Sample:
    """One roll-out of a file, with the group that it belongs to."""

    line: Line
    question_id: str
    step: int
    rollout: Rollout


Read = Callable[[Line, Identify], Sample]


def read_pool_file(path: Path, name: str, kind: AnswerKind, identify: Identify) -> Iterator[Located | Fault]:
    """The groups of one file in the named format. ``identify``: prompt -> question id, where a format has no ids."""
    return FORMATS[name].groups(read_lines(path), kind, identify)


def detect(paths: Iterable[Path]) -> str:
    """The format of a pool by the keys of its first readable line; ValueError lists what there is when none matches."""
    for path in paths:
        for line in read_lines(path):
            if isinstance(line, Line):
                return _format_of(line)
    raise ValueError("the pool has no readable line")


def _format_of(line: Line) -> str:
    for name, known in FORMATS.items():
        if known.keys <= line.value.keys():
            return name
    expected = "; ".join(f"{name}: {', '.join(sorted(known.keys))}" for name, known in FORMATS.items())
    raise ValueError(f"{line.path}, line {line.number}: unknown format with the keys {sorted(line.value)}; known are {expected}")


def _together(read: Read, lines: Lines, kind: AnswerKind, identify: Identify) -> Iterator[Located | Fault]:
    """Groups of neighbouring lines, a faulty line aside; a group that comes back after another one is a fault."""
    seen: set[tuple[str, int]] = set()
    held: list[Sample] = []
    for item in _samples(read, lines, identify):
        if isinstance(item, Fault):
            yield item
            continue
        if held and _key(held[0]) != _key(item):
            yield _once(held, seen, kind)
            held = []
        held.append(item)
    if held:
        yield _once(held, seen, kind)


def _once(samples: list[Sample], seen: set[tuple[str, int]], kind: AnswerKind) -> Located | Fault:
    first, key = samples[0], _key(samples[0])
    if key in seen:
        reason = f"question {first.question_id!r}, step {first.step}: its roll-outs do not stand together"
        return Fault(first.line.path, first.line.number, reason)
    seen.add(key)
    return _located(samples, kind)


def _by_step(read: Read, lines: Lines, kind: AnswerKind, identify: Identify) -> Iterator[Located | Fault]:
    """Groups within a run of lines of one step, in order of first appearance: these tools shuffle a step's lines."""
    groups: dict[str, list[Sample]] = {}
    step = 0
    for item in _samples(read, lines, identify):
        if isinstance(item, Fault):
            yield item
            continue
        if item.step != step:
            yield from (_located(samples, kind) for samples in groups.values())
            groups, step = {}, item.step
        groups.setdefault(item.question_id, []).append(item)
    yield from (_located(samples, kind) for samples in groups.values())


def _key(sample: Sample) -> tuple[str, int]:
    return sample.question_id, sample.step


def _samples(read: Read, lines: Lines, identify: Identify) -> Iterator[Sample | Fault]:
    for line in lines:
        if isinstance(line, Fault):
            yield line
            continue
        try:
            sample = read(line, identify)
        except (ValueError, TypeError) as error:
            yield Fault(line.path, line.number, str(error))
            continue
        yield sample


def _located(samples: list[Sample], kind: AnswerKind) -> Located | Fault:
    first, rollouts = samples[0], [sample.rollout for sample in samples]
    try:
        stored = signals.per_rollout_signals(rollouts)
    except ValueError as error:
        return Fault(first.line.path, first.line.number, f"question {first.question_id!r}, step {first.step}: {error}")
    row = PoolRow(
        question_id=first.question_id,
        step=first.step,
        seed=stream(0, "replay", first.question_id, first.step),
        texts=tuple(rollout.text for rollout in rollouts),
        answers=tuple(grading.extract(rollout.text, kind) for rollout in rollouts),
        truncated=tuple(rollout.truncated for rollout in rollouts),
        tokens=tuple(len(rollout.token_ids) for rollout in rollouts),
        signals={name: values.astype(np.float64) for name, values in stored.items()},
    )
    return Located(first.line.path, first.line.number, row)


def _jsonl(line: Line, identify: Identify) -> Sample:
    value = line.value
    rollout = _rollout(text_of(value, "text"), numbers_or_none(value, "logprobs"), flag(value, "truncated"))
    return Sample(line, identifier(value, "question_id"), step_of(value), rollout)


def _verl(line: Line, identify: Identify) -> Sample:
    return Sample(line, identify(text_of(line.value, "input")), step_of(line.value), _rollout(text_of(line.value, "output"), None, False))


def _openrlhf(line: Line, identify: Identify) -> Sample:
    value = line.value
    numbers = numbers_or_none(value, "rollout_log_probs")
    if numbers is not None:
        numbers = _actions(numbers, value)
    rollout = _rollout(text_of(value, "response"), numbers, flag(value, "truncated"))
    return Sample(line, identify(text_of(value, "prompt")), step_of(value), rollout)


def _actions(numbers: NDArray[np.float32], value: Mapping[str, Any]) -> NDArray[np.float32]:
    """The policy's own tokens: ``rollout_log_probs`` covers the prompt too, ``action_ranges`` says where the response stands."""
    if "action_ranges" not in value:
        raise ValueError("rollout_log_probs without action_ranges: where the response begins is not known")
    parts = [numbers[start:end] for start, end in value["action_ranges"]]
    return np.concatenate(parts) if parts else numbers[:0]


def _lm_eval(lines: Lines, kind: AnswerKind, identify: Identify) -> Iterator[Located | Fault]:
    """A group a line. A task with several filters logs the same responses once a filter: the first filter's lines are read."""
    first_filter: object = None
    for line in lines:
        if isinstance(line, Fault):
            yield line
            continue
        value = line.value
        if "filter" in value and first_filter is None:
            first_filter = value["filter"]
        if "filter" in value and value["filter"] != first_filter:
            continue
        try:
            (responses,) = value["resps"]
            question_id = identify(_harness_prompt(value)) if identify is not prompts.by_hash else str(value["doc_id"])
            samples = [Sample(line, question_id, 0, _rollout(as_text(response), None, False)) for response in responses]
            if not samples:
                raise ValueError("resps holds no response")
        except (ValueError, TypeError, KeyError) as error:
            yield Fault(line.path, line.number, f"not a generation sample: {error}")
            continue
        yield _located(samples, kind)


def _harness_prompt(value: Mapping[str, Any]) -> str:
    """The text that the model was given: newer versions name the arguments, older ones list them."""
    arguments = value["arguments"]
    prompt = arguments["gen_args_0"]["arg_0"] if isinstance(arguments, dict) else arguments[0][0]
    return as_text(prompt[0] if isinstance(prompt, list) and len(prompt) == 1 else prompt)


def _rollout(text: str, logprobs: NDArray[np.float32] | None, truncated: bool) -> Rollout:
    """A roll-out whose token ids are not known (-1)."""
    return Rollout(text, () if logprobs is None else (-1,) * logprobs.size, logprobs, truncated=truncated)


@dataclass(frozen=True, slots=True)
class Format:
    """How a file is known (``keys`` of a line) and read."""

    keys: frozenset[str]
    groups: Callable[[Lines, AnswerKind, Identify], Iterator[Located | Fault]]


FORMATS: Mapping[str, Format] = {
    "pool": Format(frozenset({"pool", "texts"}), lambda lines, kind, identify: pool_rows(lines)),
    "lm-eval": Format(frozenset({"doc_id", "resps"}), _lm_eval),
    "openrlhf": Format(frozenset({"prompt", "response"}), partial(_by_step, _openrlhf)),
    "verl": Format(frozenset({"input", "output"}), partial(_by_step, _verl)),
    "jsonl": Format(frozenset({"question_id", "text"}), partial(_together, _jsonl)),
}
"""Formats by name; a file is in the first one whose keys its first line has."""
