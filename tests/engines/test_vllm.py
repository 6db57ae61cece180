import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from tests.engines.tiny import PLAIN, tokenizer
from ttrlab.config.settings import Sampling
from ttrlab.engines import ENGINES, open_policy, open_sampler
from ttrlab.engines.vllm import VllmPolicy, pack_again, token_numbers
from ttrlab.types import Question


def entry(logprob):
    return SimpleNamespace(logprob=logprob)


def test_k_plus_one_entries_are_cut_to_the_k_best():
    best = {token: entry(-0.1 * token) for token in range(20)}
    outside = {**best, 99: entry(-7.0)}
    logprobs, confidences = token_numbers([best, outside], [3, 99])
    assert logprobs == [pytest.approx(-0.3), -7.0]
    assert confidences[0] == confidences[1] == pytest.approx(0.95)


def test_a_sampled_token_without_a_logprob_is_an_error_and_not_probability_one():
    with pytest.raises(ValueError, match="position 0: no log-prob for the sampled token 5"):
        token_numbers([{1: entry(-1.0)}], [5])


def test_engines_say_what_they_give_without_being_loaded():
    assert ENGINES["torch"].token_stats == {"topk_confidence", "entropy", "self_certainty"}
    assert ENGINES["vllm"].token_stats == {"topk_confidence"}


def test_an_engine_that_cannot_do_it_is_refused_by_name():
    with pytest.raises(ValueError, match="'openrlhf' does not adapt"):
        open_policy("openrlhf", "m", None, None, "math", None, 1, 0)
    with pytest.raises(ValueError, match="'openrlhf' has no sampler"):
        open_sampler("openrlhf", "m", None, None, "math")


class StandIn:
    """vLLM's ``LLM``, as far as the sampler uses it: every response is "4" and a stop token, cut to the longest that is asked for."""

    def __init__(self, **settings):
        self.settings, self.asked, self.calls = settings, [], []

    def get_tokenizer(self):
        return tokenizer()

    def generate(self, prompts, parameters, use_tqdm):
        self.asked += list(zip(prompts, parameters, strict=True))
        return [SimpleNamespace(outputs=[self.completion(one.max_tokens) for _ in range(one.n)]) for one in parameters]

    def completion(self, longest):
        ids = tokenizer()("4")["input_ids"] + [1]
        best = {token: entry(-0.1 * (place + 1)) for place, token in enumerate([*ids, *range(20, 38)])}
        reason = "length" if longest < len(ids) else "stop"
        return SimpleNamespace(token_ids=ids[:longest], logprobs=[best] * min(longest, len(ids)), finish_reason=reason)

    def collective_rpc(self, name, kwargs):
        self.calls.append((name, kwargs))

    def apply_model(self, function):
        self.calls.append(function)

    def reset_prefix_cache(self):
        self.calls.append("reset_prefix_cache")


@pytest.fixture
def stand_in(monkeypatch):
    """Modules in the place of vLLM's, on a machine without a GPU."""
    module, platforms = ModuleType("vllm"), ModuleType("vllm.platforms")
    module.LLM, module.SamplingParams = StandIn, SimpleNamespace
    platforms.current_platform = SimpleNamespace(is_cpu=lambda: True)
    monkeypatch.setitem(sys.modules, "vllm", module)
    monkeypatch.setitem(sys.modules, "vllm.platforms", platforms)


@pytest.fixture
def sampler(stand_in):
    return open_sampler("vllm", "folder", None, PLAIN, "integer")


def test_rollouts_of_vllm_are_aligned_and_say_whether_they_were_cut(sampler):
    questions = [Question("a", "2+2="), Question("b", "1+3=")]
    groups = sampler.sample(questions, 3, Sampling(top_k=0, max_new_tokens=8), [5, 6], frozenset({"topk_confidence"}))
    assert [len(group) for group in groups] == [3, 3]
    rollout = groups[0][0]
    assert (rollout.text, rollout.truncated, rollout.step_ends) == ("4", False, (2,))
    assert rollout.logprobs.tolist() == pytest.approx([-0.1, -0.2])
    assert rollout.token_stats["topk_confidence"].tolist() == pytest.approx([1.05, 1.05])
    asked = sampler.engine.asked
    assert [one.seed for _, one in asked] == [5, 6]
    assert asked[0][0]["prompt_token_ids"] == tokenizer()("2+2=")["input_ids"]
    assert sampler.engine.settings["logprobs_mode"] == "raw_logprobs"
    ((cut,),) = sampler.sample(questions[:1], 1, Sampling(max_new_tokens=1), [5], frozenset())
    assert (cut.truncated, len(cut.token_ids)) == (True, 1)


def test_statistics_of_the_whole_vocabulary_are_refused_by_name(sampler):
    with pytest.raises(ValueError, match="only top-20 log-probs, not entropy"):
        sampler.sample([Question("a", "2+2=")], 1, Sampling(), [1], frozenset({"entropy"}))


def test_new_weights_replace_the_old_ones_and_what_was_cached_of_them(sampler):
    sampler.reload(Path("step"))
    assert sampler.engine.calls == [("reload_weights", {"weights_path": "step"}), pack_again, "reset_prefix_cache"]


def test_on_a_cpu_the_weights_keep_their_precision_and_nothing_is_compiled(sampler):
    assert (sampler.engine.settings["dtype"], sampler.engine.settings["enforce_eager"]) == ("float32", True)


class Trainer:
    """Notes what it is asked, and writes the number of updates where weights belong."""

    def __init__(self):
        self.updates, self.written = 0, []

    def update(self, groups, temperature):
        self.updates += 1
        return {"updates": float(self.updates)}

    def save_checkpoint(self, folder):
        (folder / "weights").write_text(str(self.updates))
        self.written.append(folder)

    def save_state(self, folder):
        (folder / "state").write_text(str(self.updates))

    def load_state(self, folder):
        self.updates = int((folder / "state").read_text())


def test_after_every_update_and_every_resume_vllm_samples_from_the_trainers_weights(stand_in, monkeypatch, tmp_path):
    seen = []
    monkeypatch.setattr(VllmPolicy, "reload", lambda self, folder: seen.append((folder / "weights").read_text()))
    policy = VllmPolicy(Trainer(), "folder", None, PLAIN, "integer")
    assert policy.update([], 1.0) == {"updates": 1.0}
    policy.save_state(tmp_path)
    policy.update([], 1.0)
    policy.load_state(tmp_path)
    assert seen == ["1", "2", "1"]
    assert not any(folder.exists() for folder in policy.trainer.written)
