import numpy as np
import pytest
import torch

from tests.engines.tiny import save_model
from ttrlab.config.catalogue import PromptStyle
from ttrlab.config.settings import Sampling
from ttrlab.engines.base import TOKEN_STATS
from ttrlab.engines.torch_cache import SHORT, RoomyCache
from ttrlab.engines.torch_policy import TorchPolicy
from ttrlab.engines.torch_sample import choose, continued
from ttrlab.types import Question

STATS = frozenset(TOKEN_STATS)
PROBABILITIES = torch.tensor([[0.1, 0.4, 0.2, 0.3]])


def drawn(sampling, draws=4000, logits=None):
    """Shares of the four tokens when the uniforms sweep [0, 1)."""
    logits = PROBABILITIES.log() if logits is None else logits
    uniform = (torch.arange(draws, dtype=torch.float64) + 0.5) / draws
    return np.bincount(choose(logits, sampling, uniform, torch.zeros(draws, dtype=torch.int64)), minlength=4) / draws


@pytest.mark.parametrize(
    "sampling, shares",
    [
        ({}, [0.1, 0.4, 0.2, 0.3]),
        ({"temperature": 0}, [0, 1, 0, 0]),
        ({"temperature": 0.5}, [1 / 30, 16 / 30, 4 / 30, 9 / 30]),
        ({"top_k": 2}, [0, 4 / 7, 0, 3 / 7]),
        ({"top_k": 9}, [0.1, 0.4, 0.2, 0.3]),
        ({"top_p": 0.4}, [0, 1, 0, 0]),  # the smallest set that reaches p
        ({"top_p": 0.65}, [0, 4 / 7, 0, 3 / 7]),
        ({"top_p": 0.95}, [0.1, 0.4, 0.2, 0.3]),
        ({"top_k": 3, "top_p": 0.7}, [0, 4 / 7, 0, 3 / 7]),  # top-p of what top-k has left: 4/9 + 3/9 reaches 0.7
    ],
)
def test_tokens_are_drawn_with_the_cut_distribution(sampling, shares):
    np.testing.assert_allclose(drawn(Sampling(**sampling)), shares, atol=6e-4)


def test_a_token_without_probability_is_never_drawn_not_even_at_the_ends():
    logits = torch.tensor([[-torch.inf, 0.0, 0.0, -torch.inf]])
    ends = torch.tensor([0.0, 1 - 2**-53], dtype=torch.float64)
    assert choose(logits, Sampling(), ends, torch.zeros(2, dtype=torch.int64)).tolist() == [1, 2]


def test_rows_with_the_same_text_share_one_place_and_part_when_they_differ():
    parents, tokens, text = continued(torch.tensor([0, 0, 0, 1, 1]), torch.tensor([7, 3, 7, 7, 7]), 10)
    assert parents.tolist() == [0, 0, 1]
    assert tokens.tolist() == [3, 7, 7]
    assert text.tolist() == [1, 0, 1, 2, 2]


def test_the_cache_holds_what_was_written_before_and_after_it_gets_room():
    cache, rows = RoomyCache(1), torch.arange(3.0)[:, None, None, None]
    for place in range(3 * SHORT):
        keys, values = cache.update(rows + 10 * place, -rows - 10 * place, 0)
        assert keys.shape == (len(rows), 1, place + 1, 1)
        if place in (5, 2 * SHORT):
            rows = rows[[0, 2, 2] if place == 5 else [2, 0]]
            cache.take(torch.tensor([0, 2, 2] if place == 5 else [2, 0]))
    assert keys[:, 0, :, 0].tolist() == [[r + 10 * place for place in range(3 * SHORT)] for r in (2.0, 0.0)]
    assert torch.equal(values, -keys)


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    return TorchPolicy(save_model(tmp_path_factory.mktemp("model")), None, PromptStyle(template="plain", where="none"), "integer")


def flat(groups):
    return [(r.token_ids, r.logprobs.tobytes(), [r.token_stats[name].tobytes() for name in TOKEN_STATS]) for group in groups for r in group]


def test_two_calls_with_the_same_seeds_give_the_same_bytes(engine):
    questions, sampling = [Question("a", "1+1="), Question("b", "12+30=")], Sampling(max_new_tokens=40, max_prompt_tokens=32)
    first, second = (engine.sample(questions, 16, sampling, [1, 2], STATS) for _ in range(2))
    assert flat(first) == flat(second)


def test_a_question_has_the_same_rollouts_among_others_alone_and_in_another_place(engine):
    questions = [Question(str(i), f"{i}+{i + 1}=") for i in range(6)]
    sampling, seeds = Sampling(max_new_tokens=24, max_prompt_tokens=32), [11, 12, 13, 14, 15, 16]
    together = engine.sample(questions, 16, sampling, seeds, STATS)
    backwards = engine.sample(questions[::-1], 16, sampling, seeds[::-1], STATS)[::-1]
    alone = [engine.sample([q], 16, sampling, [seed], STATS)[0] for q, seed in zip(questions, seeds, strict=True)]
    for other in (backwards, alone):
        for mine, theirs in zip((r for g in together for r in g), (r for g in other for r in g), strict=True):
            assert mine.token_ids == theirs.token_ids
            np.testing.assert_allclose(mine.logprobs, theirs.logprobs, atol=1e-5)


def test_equal_texts_of_a_question_have_the_same_numbers_to_the_bit(engine):
    (group,) = engine.sample([Question("a", "1+1=")], 64, Sampling(max_new_tokens=3, max_prompt_tokens=32), [3], STATS)
    by_text = {}
    for rollout in group:
        by_text.setdefault(rollout.token_ids, set()).add(rollout.logprobs.tobytes())
    assert len(by_text) < 64
    assert all(len(numbers) == 1 for numbers in by_text.values())


def test_numbers_that_were_not_asked_for_are_not_there(engine):
    ((rollout,),) = engine.sample([Question("a", "1+1=")], 1, Sampling(max_new_tokens=3, max_prompt_tokens=32), [3], frozenset({"entropy"}))
    assert set(rollout.token_stats) == {"entropy"}
