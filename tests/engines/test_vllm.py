from dataclasses import dataclass

import pytest

from ttrlab.engines import ENGINES, open_policy, open_sampler
from ttrlab.engines.vllm import token_numbers


@dataclass
class Entry:
    logprob: float


def test_k_plus_one_entries_are_cut_to_the_k_best():
    best = {token: Entry(-0.1 * token) for token in range(20)}
    outside = {**best, 99: Entry(-7.0)}
    logprobs, confidences = token_numbers([best, outside], [3, 99])
    assert logprobs == [pytest.approx(-0.3), -7.0]
    assert confidences[0] == confidences[1] == pytest.approx(0.95)


def test_a_sampled_token_without_a_logprob_is_an_error_and_not_probability_one():
    with pytest.raises(ValueError, match="position 0: no log-prob for the sampled token 5"):
        token_numbers([{1: Entry(-1.0)}], [5])


def test_engines_say_what_they_give_without_being_loaded():
    assert ENGINES["torch"].token_stats == {"topk_confidence", "entropy", "self_certainty"}
    assert ENGINES["vllm"].token_stats == {"topk_confidence"}


def test_an_engine_that_cannot_do_it_is_refused_by_name():
    with pytest.raises(ValueError, match="'vllm' does not adapt"):
        open_policy("vllm", "m", None, None, "math", None, 1, 0)
    with pytest.raises(ValueError, match="'openrlhf' has no sampler"):
        open_sampler("openrlhf", "m", None, None, "math")
