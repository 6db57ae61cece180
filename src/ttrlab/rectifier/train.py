"""Training the rectifier: sample judgements, expand flat groups, reward, advantage, update, record. The same engine as adaptation."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ttrlab.config.judge import JudgeLimits, RectifierTraining
from ttrlab.config.settings import Sampling
from ttrlab.engines.base import Policy, TrainingGroup
from ttrlab.rectifier.judgement import ACCEPT, Judgement, conflicts, read_judgement
from ttrlab.rectifier.prompt import JudgePrompt
from ttrlab.rectifier.reward import candidate_advantages, judgement_reward, next_size, successful
from ttrlab.rectifier.source import CATEGORIES, Candidate, Category
from ttrlab.seeds import rng, stream
from ttrlab.types import FloatArray, Question, Rollout


@runtime_checkable
class SupervisedTrainer(Protocol):
    """What an engine offers for the supervised warm start."""

    def supervised_update(self, questions: Sequence[Question], targets: Sequence[str], learning_rate: float) -> Mapping[str, float]:
        """One optimiser update on the mean cross-entropy of the targets' tokens, end-of-sequence token included, prompts masked.

        Prompts are built as for sampling. Returns floats for the step record, ``loss`` and ``grad_norm`` among them.
        """


@dataclass(frozen=True, slots=True)
class JudgementGroup:
    """The n judgements of one candidate in one step: n is 8, 16 or 32. ``rewards``, ``advantages`` (n,); the category weight is in the
    advantages."""

    candidate: Candidate
    rollouts: tuple[Rollout, ...]
    judgements: tuple[Judgement, ...]
    rewards: FloatArray
    advantages: FloatArray


@dataclass(frozen=True, slots=True)
class RectifierStep:
    """One update. ``groups`` is empty in the warm start. ``update``: the engine's numbers."""

    number: int
    groups: tuple[JudgementGroup, ...]
    update: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RectifierRun:
    """What a training of the rectifier is made of, besides its engine. ``targets``: a written judgement a candidate, for the warm start."""

    config: RectifierTraining
    candidates: Sequence[Candidate]
    weights: Mapping[Category, float]
    prompt: JudgePrompt
    limits: JudgeLimits
    seed: int
    targets: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if self.config.warm_start_updates and (self.targets is None or len(self.targets) != len(self.candidates)):
            given = "none" if self.targets is None else len(self.targets)
            raise ValueError(f"a warm start needs one written judgement a candidate: {len(self.candidates)} candidates, {given} given")

    @property
    def sampling(self) -> Sampling:
        """How training judgements are drawn."""
        return Sampling(
            temperature=self.config.temperature,
            max_new_tokens=self.limits.output_tokens,
            max_prompt_tokens=self.limits.input_tokens,
        )

    def question(self, candidate: Candidate) -> Question:
        """The judge's prompt for a candidate."""
        return Question(f"{candidate.question_id}#{candidate.index}", self.prompt.render(candidate.item))


def train_rectifier(run: RectifierRun, policy: Policy, done: int = 0) -> Iterator[RectifierStep]:
    """Yield the steps after ``done``; the policy is updated when a step is yielded, so the caller may save it then."""
    for number in range(done + 1, run.config.steps + 1):
        if number <= run.config.warm_start_updates:
            yield _warm_start_step(run, policy, number)
        else:
            groups = sample_groups(run, policy, number)
            update = policy.update(
                [TrainingGroup(run.question(group.candidate), group.rollouts, group.advantages) for group in groups],
                run.config.temperature,
            )
            yield RectifierStep(number, tuple(groups), update)


def sample_groups(run: RectifierRun, policy: Policy, number: int) -> list[JudgementGroup]:
    """Sample judgements of the step's candidates. Groups that are flat without being all successful are drawn on, 8 -> 16 -> 32, all of
    them in one batch a round; every draw has a stream of its own, so what is drawn does not depend on the others."""
    rows = candidate_rows(len(run.candidates), run.config.settings.batch, run.seed, "reinforce", number - run.config.warm_start_updates)
    chosen = [run.candidates[row] for row in rows]
    drawn: list[tuple[Rollout, ...]] = [() for _ in chosen]
    pending = list(range(len(chosen)))
    for size in run.config.sizes:
        if not pending:
            break
        missing = size - len(drawn[pending[0]])
        seeds = [stream(run.seed, "judgements", number, position, size) for position in pending]
        more = policy.sample([run.question(chosen[p]) for p in pending], missing, run.sampling, seeds, frozenset())
        for position, rollouts in zip(pending, more, strict=True):
            drawn[position] += rollouts
        pending = [p for p in pending if _is_flat(_group(run, chosen[p], drawn[p]), run.config.sizes)]
    return [_group(run, candidate, rollouts) for candidate, rollouts in zip(chosen, drawn, strict=True)]


def candidate_rows(total: int, batch: int, seed: int, name: str, number: int) -> list[int]:
    """Indices of batch ``number`` (1-based): consecutive pieces of seeded permutations, so each candidate comes once before any twice."""
    if total < 1:
        raise ValueError("no candidates to train on")
    positions = range((number - 1) * batch, number * batch)
    orders = {epoch: rng(seed, name, epoch).permutation(total) for epoch in {position // total for position in positions}}
    return [int(orders[position // total][position % total]) for position in positions]


def judgement_rows(step: RectifierStep) -> Iterator[dict[str, Any]]:
    """The judgements of a step as JSON objects, one a candidate; lists aligned."""
    for group in step.groups:
        yield {
            "question_id": group.candidate.question_id,
            "index": group.candidate.index,
            "category": group.candidate.category,
            "correct": group.candidate.correct,
            "texts": [rollout.text for rollout in group.rollouts],
            "scores": [judgement.score for judgement in group.judgements],
            "faults": [judgement.fault for judgement in group.judgements],
            "rewards": group.rewards.tolist(),
            "advantages": group.advantages.tolist(),
        }


def step_record(step: RectifierStep, sizes: Sequence[int]) -> dict[str, Any]:
    """One JSON object a step, without a clock. Shares are over all judgements; ``successful/<category>`` over those of that category;
    ``groups_of/<size>`` counts the groups that ended at each of ``sizes``."""
    record: dict[str, Any] = {"step": step.number, **{f"engine/{name}": float(value) for name, value in step.update.items()}}
    if not step.groups:
        return {**record, "phase": "warm_start"}
    pairs = [(judgement, group.candidate) for group in step.groups for judgement in group.judgements]
    valid = np.array([judgement.fault is None for judgement, _ in pairs])
    success = np.array([successful(judgement, candidate.correct) for judgement, candidate in pairs])
    accepted = np.array([judgement.score >= ACCEPT for judgement, _ in pairs])
    correct = np.array([candidate.correct for _, candidate in pairs])
    categories = np.array([candidate.category for _, candidate in pairs])
    drawn = [len(group.rollouts) for group in step.groups]
    return {
        **record,
        "phase": "reinforce",
        "candidates": len(step.groups),
        "judgements": len(pairs),
        "tokens": sum(len(rollout.token_ids) for group in step.groups for rollout in group.rollouts),
        **{f"groups_of/{size}": drawn.count(size) for size in sizes},
        "active_share": float(np.mean([group.advantages.any() for group in step.groups])),
        "reward_mean": float(np.concatenate([group.rewards for group in step.groups]).mean()),
        "successful_share": float(success.mean()),
        "invalid_share": float(1 - valid.mean()),
        "conflict_share": float(np.mean([conflicts(judgement) for judgement, _ in pairs])),
        "wrong_accepted": _mean(accepted[~correct]),
        "correct_withheld": _mean(~accepted[correct]),
        **{f"successful/{name}": _mean(success[categories == name]) for name in CATEGORIES},
    }


def _warm_start_step(run: RectifierRun, policy: Policy, number: int) -> RectifierStep:
    if not isinstance(policy, SupervisedTrainer):
        raise ValueError(f"warm_start_updates: {run.config.warm_start_updates} asked for, and this engine has no supervised update")
    rows = candidate_rows(len(run.candidates), run.config.warm_start_batch, run.seed, "warm start", number)
    assert run.targets is not None  # checked when the run was made
    questions, targets = [run.question(run.candidates[row]) for row in rows], [run.targets[row] for row in rows]
    return RectifierStep(number, (), policy.supervised_update(questions, targets, run.config.warm_start_rate))


def _group(run: RectifierRun, candidate: Candidate, rollouts: tuple[Rollout, ...]) -> JudgementGroup:
    judgements = tuple(read_judgement(rollout.text, rollout.truncated) for rollout in rollouts)
    rewards = np.array([judgement_reward(judgement, candidate.correct) for judgement in judgements])
    return JudgementGroup(candidate, rollouts, judgements, rewards, candidate_advantages(rewards, run.weights[candidate.category]))


def _is_flat(group: JudgementGroup, sizes: Sequence[int]) -> bool:
    successes = [successful(judgement, group.candidate.correct) for judgement in group.judgements]
    return next_size(group.rewards, successes, sizes) is not None


def _mean(values: np.ndarray) -> float | None:
    """None where a step has no such judgement."""
    return float(values.mean()) if values.size else None
