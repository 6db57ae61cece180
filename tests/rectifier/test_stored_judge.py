import json

import numpy as np
import pytest
from judging import CountingJudge, ScriptedPolicy

from ttrlab.config.judge import JudgeLimits
from ttrlab.pools import PoolRow
from ttrlab.rectifier.judge import JudgedItem, JudgeItem, SamplerJudge, judge_identity
from ttrlab.rectifier.prompt import MATH, JudgePrompt
from ttrlab.rectifier.stored import CachedJudge, StoredJudge, read_judgements

ONE, TWO, LONG = JudgeItem("q", "s", "1"), JudgeItem("q", "s", "22"), JudgeItem("q", "x" * 200, "1")


def sampler_judge(script, **changes):
    policy = ScriptedPolicy(script)
    settings = {"count": len, "prompt": MATH, "limits": JudgeLimits(), "rectifier": "weights", **changes}
    return policy, SamplerJudge(sampler=policy, **settings)


def test_a_judge_in_process_decodes_all_items_greedily_in_one_batch():
    policy, judge = sampler_judge(lambda prompt, seed, i: f'{{"reason": "ok", "score": {len(prompt) % 2 + 6}}}')
    found = judge.judge([ONE, TWO])
    assert [j.score for j in found] == [len(MATH.render(item)) % 2 + 6 for item in (ONE, TWO)]
    assert [j.tokens for j in found] == [3, 3]
    ((questions, n, sampling, seeds),) = policy.calls
    assert (questions, n, sampling.temperature, sampling.max_new_tokens, sampling.max_prompt_tokens, seeds) == (2, 1, 0, 4096, 4096, (0, 0))
    assert judge.judge([]) == []


def test_a_prompt_over_the_input_limit_does_not_fit():
    _, judge = sampler_judge(None, limits=JudgeLimits(input_tokens=len(MATH.render(ONE)), context_tokens=100_000))
    assert judge.fits(ONE)
    assert not judge.fits(TWO)


def test_identity_changes_with_weights_prompt_and_limits():
    other = JudgePrompt("other", MATH.template)
    limits = JudgeLimits(output_tokens=100)
    identities = {
        judge_identity(*a)
        for a in (("w", MATH, JudgeLimits()), ("v", MATH, JudgeLimits()), ("w", other, JudgeLimits()), ("w", MATH, limits))
    }
    assert len(identities) == 4


def test_a_judgement_is_unresolved_exactly_when_it_has_a_fault():
    with pytest.raises(ValueError, match="exactly when it has a fault"):
        JudgedItem(-1, "", 0)
    with pytest.raises(ValueError, match="exactly when it has a fault"):
        JudgedItem(3, "", 0, "score")


def test_the_cache_asks_each_item_once_in_one_batch_and_keeps_the_order(tmp_path):
    inner = CountingJudge()
    judge = CachedJudge(inner, tmp_path / "cache.jsonl")
    assert [j.score for j in judge.judge([TWO, ONE, TWO])] == [2, 1, 2]
    assert [j.score for j in judge.judge([ONE, TWO])] == [1, 2]
    assert inner.batches == [[TWO, ONE]]


def test_a_redone_step_is_decided_by_the_judgements_on_disk(tmp_path):
    path = tmp_path / "deep" / "cache.jsonl"
    first = CachedJudge(CountingJudge(), path).judge([ONE, TWO])
    again = CountingJudge()
    assert CachedJudge(again, path).judge([ONE, TWO]) == first
    assert again.batches == []


def test_a_line_torn_by_a_kill_is_cut_off_and_judged_again(tmp_path):
    path = tmp_path / "cache.jsonl"
    CachedJudge(CountingJudge(), path).judge([ONE, TWO])
    whole = path.read_bytes()
    path.write_bytes(whole[:-7])
    again = CountingJudge()
    CachedJudge(again, path).judge([ONE, TWO])
    assert again.batches == [[TWO]]
    assert path.read_bytes() == whole


def test_a_broken_line_in_the_middle_is_an_error_that_names_it(tmp_path):
    path = tmp_path / "cache.jsonl"
    path.write_text('{"key": \n{}\n')
    with pytest.raises(ValueError, match=r"cache.jsonl, line 1: not valid JSON"):
        CachedJudge(CountingJudge(), path)


def test_another_judge_does_not_read_this_ones_judgements(tmp_path):
    path = tmp_path / "cache.jsonl"
    CachedJudge(CountingJudge(), path).judge([ONE])
    other = CountingJudge()
    other.identity = "another rectifier"
    CachedJudge(other, path).judge([ONE])
    assert other.batches == [[ONE]]
    assert len(read_judgements(path)) == 2


def test_a_failing_judge_leaves_the_cache_as_it_was(tmp_path):
    class Dead(CountingJudge):
        def judge(self, items):
            raise RuntimeError("dead")

    judge = CachedJudge(Dead(), tmp_path / "cache.jsonl")
    with pytest.raises(RuntimeError, match="dead"):
        judge.judge([ONE])
    assert read_judgements(judge.path) == {}


def test_eligibility_is_asked_once_an_item(tmp_path):
    inner = CountingJudge()
    judge = CachedJudge(inner, tmp_path / "cache.jsonl")
    assert [judge.fits(item) for item in (ONE, LONG, ONE, LONG)] == [True, False, True, False]
    assert inner.fit_questions == 2


def test_stored_judgements_are_replayed_with_reason_and_tokens(tmp_path):
    path = tmp_path / "cache.jsonl"
    made = CachedJudge(CountingJudge(), path).judge([ONE, TWO])
    judge = StoredJudge("counting", read_judgements(path), {})
    assert judge.judge([TWO, ONE]) == made[::-1]
    assert judge.fits(ONE)


def test_an_item_that_was_never_judged_is_an_error_that_names_it():
    judge = StoredJudge("counting", {}, {})
    with pytest.raises(KeyError, match="no stored judgement for answer '22' to 'q'; 0 are stored"):
        judge.judge([TWO])
    with pytest.raises(KeyError, match="no stored eligibility for answer '22'"):
        judge.fits(TWO)


def pool_row(scores, fits, texts=("a", "b", "c")):
    signals = {"judge_score": np.array(scores), "judge_fits": np.array(fits, dtype=np.float64)}
    return PoolRow("q1", 3, 0, texts, ("1", "2", None), (False,) * 3, (4,) * 3, signals)


def test_a_pool_made_with_a_judge_replays_it():
    judge = StoredJudge.from_pool("counting", [pool_row([7, np.nan, np.nan], [1, 0, 0])], {"q1": "1+1"})
    assert judge.judge([JudgeItem("1+1", "a", "1")])[0].score == 7
    assert not judge.fits(JudgeItem("1+1", "b", "2"))
    with pytest.raises(KeyError, match="no stored judgement for answer '2'"):
        judge.judge([JudgeItem("1+1", "b", "2")])


def test_an_unresolved_judgement_of_a_pool_stays_unresolved():
    judge = StoredJudge.from_pool("counting", [pool_row([-1, np.nan, np.nan], [1, 1, 0])], {"q1": "1+1"})
    assert not judge.judge([JudgeItem("1+1", "a", "1")])[0].valid


def test_a_pool_without_judgements_or_with_contradicting_ones_is_refused():
    bare = PoolRow("q1", 3, 0, ("a",), ("1",), (False,), (4,))
    with pytest.raises(ValueError, match="step 3: .*it was made without a judge"):
        StoredJudge.from_pool("counting", [bare], {"q1": "1+1"})
    with pytest.raises(ValueError, match="two different stored judgements"):
        StoredJudge.from_pool("counting", [pool_row([7, 1, np.nan], [1, 1, 0]), pool_row([6, 1, np.nan], [1, 1, 0])], {"q1": "1+1"})


def test_the_cache_file_holds_one_json_object_a_judgement(tmp_path):
    path = tmp_path / "cache.jsonl"
    CachedJudge(CountingJudge(), path).judge([ONE])
    (row,) = [json.loads(line) for line in path.read_text().splitlines()]
    assert sorted(row) == ["content", "fault", "key", "reason", "score", "tokens"]


def test_a_rollout_is_eligible_though_its_text_was_also_stored_as_a_truncated_one():
    signals = {"judge_score": np.array([np.nan, np.nan]), "judge_fits": np.array([1.0, 0.0])}
    row = PoolRow("q", 1, 0, ("s", "s"), ("1", "1"), (False, True), (1, 1), signals)
    assert StoredJudge.from_pool("judge", [row], {"q": "q"}).fits(ONE)
