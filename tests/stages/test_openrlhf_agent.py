"""The agent that OpenRLHF loads: groups meet, decide as the loop does, fail together. An engine with vLLM's interface stands in."""

import asyncio
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from tests.engines.openrlhf.specs import spec
from tests.engines.tiny import VOCABULARY, tokenizer
from ttrlab.adapt.loop import adapt
from ttrlab.adapt.record import decision_row, step_record
from ttrlab.benchmarks import Loaded, write_benchmark
from ttrlab.files import read_json, read_jsonl, write_text
from ttrlab.rectifier.judge import JudgedItem
from ttrlab.rewards import Core, Majority, Oracle, Scope, Truer
from ttrlab.seeds import rng
from ttrlab.stages.openrlhf_agent import Binding, GroupAgent
from ttrlab.stages.openrlhf_meeting import Meeting
from ttrlab.types import Question

QUESTIONS = tuple(Question(f"q{i}", f"{i}+{i}=") for i in range(6))
STATS = frozenset({"topk_confidence"})


@dataclass
class Params:
    """vLLM's sampling parameters, as far as the agent sets them."""

    logprobs: int | None = None
    seed: int | None = None
    top_k: int = -1
    min_tokens: int = 1


class Engine:
    """Answers ``\\boxed{digit}``, by the seed alone; one digit in five stays without a box."""

    def __init__(self, sleep=0.0, broken=False):
        self.sleep, self.broken, self.asked = sleep, broken, []

    async def generate(self, prompt, params):
        self.asked.append((tuple(prompt), params.seed, params.logprobs))
        await asyncio.sleep(self.sleep)
        if self.broken:
            raise ConnectionError("the engine is gone")
        draw = rng(params.seed, "engine")
        digit = str(draw.integers(0, 5))
        words = ["\\boxed{", digit, "}", "</s>"] if digit != "4" else ["x", digit, "</s>"]
        ids = [VOCABULARY.index(word) for word in words]
        values = np.sort(draw.uniform(-5, -0.1, (len(ids), 21)))[:, ::-1]
        entries = [{token if rank == 0 else 1000 + rank: SimpleNamespace(logprob=float(v)) for rank, v in enumerate(row)}
                   for token, row in zip(ids, values, strict=True)]  # fmt: skip
        return SimpleNamespace(outputs=[SimpleNamespace(token_ids=ids, logprobs=entries, finish_reason="stop")])


class Witness(Meeting):
    """A meeting in this process that remembers the roll-outs of every group."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.rollouts = {}

    async def settle(self, ticket, group):
        self.rollouts[ticket.step, ticket.position] = group.rollouts
        return await super().settle(ticket, group)


class Told:
    """The loop's policy: it samples what the agent sampled."""

    def __init__(self, rollouts, batch):
        self.steps = [[rollouts[step, position] for position in range(batch)] for step in range(1, len(rollouts) // batch + 1)]

    def sample(self, questions, n, sampling, seeds, stats):
        return self.steps.pop(0)

    def update(self, groups, temperature):
        return {}


class Judge:
    """A score by the answer's digit; some stay unresolved."""

    identity = "digits"

    def fits(self, item):
        return True

    def judge(self, items):
        return [JudgedItem(-1, "", 1, "malformed") if item.answer == "0" else JudgedItem(3 * int(item.answer), "", 1) for item in items]


def binding(folder, a_spec, patience=20.0, gold=None):
    loaded = Loaded(QUESTIONS, {q.id: "2" for q in QUESTIONS}, {q.id: {} for q in QUESTIONS}, {})
    write_benchmark(loaded, folder / "questions.jsonl", folder / "gold.jsonl")
    paths = {"questions": str(folder / "questions.jsonl"), "gold": gold, "judge": None, "frozen": None, "folder": str(folder / "adapt")}
    return Binding(run="test", spec=a_spec, **paths, proofs=str(folder / "proofs"), done=0, patience=patience)


def world(folder, a_spec, judge=None, **options):
    bound = binding(folder, a_spec, **options)
    meeting = Witness(a_spec, folder / "adapt", 0, bound.patience, lambda: judge)
    return GroupAgent(bound, meeting), meeting


async def group(agent, engine, calls, label=None):
    """One group as OpenRLHF starts it: all calls with one parameters object, gathered."""
    params = Params()
    return await asyncio.gather(*(agent.execute("a ticket", label, params, 64, tokenizer(), engine) for _ in range(calls)))


async def run(agent, engine, a_spec, steps):
    training = a_spec.training
    return [await asyncio.gather(*(group(agent, engine, training.train) for _ in range(training.batch))) for _ in range(steps)]


RULES = {
    "majority": (Majority(), None),
    "core": (Core(), None),
    "scope": (Scope(), None),
    "truer": (Truer(), Judge()),
}


@pytest.mark.parametrize("name", RULES)
def test_decisions_advantages_and_records_are_the_loops_on_the_same_rollouts(tmp_path, name):
    rule, judge = RULES[name]
    a_spec = spec(rule, votes=8, train=6)
    agent, meeting = world(tmp_path, a_spec, judge)
    responses = asyncio.run(run(agent, Engine(), a_spec, 4))
    steps = list(adapt(a_spec, QUESTIONS, Told(meeting.rollouts, 3), STATS, judge=judge))
    assert len(steps) == 4
    for step, answered in zip(steps, responses, strict=True):
        stem = f"step{step.number:06d}"
        assert read_json(tmp_path / f"adapt/steps/{stem}.json") == step_record(step)
        rows = [decision_row(*pair, step.number) for pair in zip(step.groups, step.decisions, strict=True)]
        assert list(read_jsonl(tmp_path / f"adapt/decisions/{stem}.jsonl.gz")) == rows
        given = sorted([response["reward"] for response in one] for one in answered)
        assert given == sorted(advantage.tolist() for advantage in step.advantages)
        scores = sorted([response["scores"] for response in one] for one in answered)
        assert scores == sorted(decision.rewards[:6].tolist() for decision in step.decisions)


def test_each_call_returns_its_own_rollout_behind_the_prompts_tokens(tmp_path):
    a_spec, engine = spec(), Engine()
    agent, meeting = world(tmp_path, a_spec)
    (answered,) = asyncio.run(run(agent, engine, a_spec, 1))
    told = {tuple(response["observation_tokens"]) for one in answered for response in one}
    drawn = {(*prompt, *rollout.token_ids) for (prompt, *_), rollout in
             zip(engine.asked, [r for _, rollouts in sorted(meeting.rollouts.items()) for r in rollouts], strict=True)}  # fmt: skip
    assert told == drawn
    for one in answered:
        for response in one:
            ((start, end),) = response["action_ranges"]
            assert end == len(response["observation_tokens"])
            assert start == len(engine.asked[0][0])


def test_votes_beyond_the_trained_ones_are_drawn_with_seeds_of_their_own_and_decide_too(tmp_path):
    a_spec, engine = spec(votes=8, train=4), Engine()
    agent, meeting = world(tmp_path, a_spec)
    asyncio.run(run(agent, engine, a_spec, 1))
    assert {len(rollouts) for rollouts in meeting.rollouts.values()} == {8}
    seeds = [seed for _, seed, _ in engine.asked]
    assert len(set(seeds)) == len(seeds) == 24
    assert {logprobs for *_, logprobs in engine.asked} == {20}


def test_a_label_is_refused_since_it_can_be_gold(tmp_path):
    agent, _ = world(tmp_path, spec())
    with pytest.raises(RuntimeError, match="given a label .*no run of ttrlab has one"):
        asyncio.run(group(agent, Engine(), 4, label="42"))


def test_gold_belongs_to_the_oracle_alone(tmp_path):
    with pytest.raises(ValueError, match="rule 'majority' must not get gold"):
        binding(tmp_path, spec(), gold=str(tmp_path / "gold.jsonl"))
    with pytest.raises(ValueError, match="rule 'oracle' needs gold"):
        binding(tmp_path, spec(Oracle()))
    agent, meeting = world(tmp_path, spec(Oracle()), gold=str(tmp_path / "gold.jsonl"))
    (answered,) = asyncio.run(run(agent, Engine(), agent.spec, 1))
    right = [r.answer == "2" for _, rollouts in sorted(meeting.rollouts.items()) for r in rollouts]
    assert sum(response["scores"] for one in answered for response in one) == sum(right)


def test_a_group_of_another_size_is_refused(tmp_path):
    agent, _ = world(tmp_path, spec())
    with pytest.raises(RuntimeError, match="a group came with 3 roll-outs, expected train=4"):
        asyncio.run(group(agent, Engine(), 3))


async def outcomes(agent, engines):
    """What each of a step's groups ends with."""
    return await asyncio.gather(*(group(agent, engine, 4) for engine in engines), return_exceptions=True)


def test_one_groups_failure_wakes_all_of_the_step_and_refuses_what_comes_later(tmp_path):
    agent, meeting = world(tmp_path, spec())
    ended = asyncio.run(outcomes(agent, [Engine(), Engine(), Engine(sleep=0.05, broken=True)]))
    assert [type(one) for one in ended] == [RuntimeError, RuntimeError, ConnectionError]
    assert all("the engine is gone" in str(one) for one in ended)
    with pytest.raises(RuntimeError, match="the engine is gone"):
        asyncio.run(meeting.take())
    assert not list(tmp_path.glob("adapt/steps/*"))


def test_a_wait_that_lasts_too_long_names_the_phase_and_who_is_missing(tmp_path):
    agent, _ = world(tmp_path, spec(), patience=0.2)
    ended = asyncio.run(outcomes(agent, [Engine(), Engine(), Engine(sleep=5)]))
    assert any("phase 'sampling' lasts longer than 0.2 s" in str(one) for one in ended)
    assert all(isinstance(one, RuntimeError) for one in ended)


def test_a_judge_that_fails_stops_the_step_before_anything_is_written(tmp_path):
    class Gone(Judge):
        def judge(self, items):
            raise ConnectionError("no judge at http://judge:8000")

    agent, _ = world(tmp_path, spec(Truer()), Gone())
    ended = asyncio.run(outcomes(agent, [Engine(), Engine(), Engine()]))
    assert all("no judge at http://judge:8000" in str(one) for one in ended)
    assert not list(tmp_path.glob("adapt/steps/*"))


def test_a_step_more_than_the_run_has_is_refused(tmp_path):
    a_spec = spec()
    agent, _ = world(tmp_path, a_spec)
    with pytest.raises(RuntimeError, match="OpenRLHF asks for step 5, but the run has 4"):
        asyncio.run(run(agent, Engine(), a_spec, 5))


def test_a_resumed_meeting_goes_on_with_the_seeds_of_the_step_after(tmp_path):
    a_spec = spec()
    agent, meeting = world(tmp_path / "whole", a_spec)
    asyncio.run(run(agent, Engine(), a_spec, 4))
    write_text(tmp_path / "rest/adapt/.keep", "")
    bound = binding(tmp_path / "rest", a_spec)
    later = Witness(a_spec, tmp_path / "rest/adapt", 3, 20.0, lambda: None)
    asyncio.run(run(GroupAgent(bound, later), Engine(), a_spec, 1))
    for position in range(3):
        whole, rest = ([r.text for r in one.rollouts[4, position]] for one in (meeting, later))
        assert whole == rest
