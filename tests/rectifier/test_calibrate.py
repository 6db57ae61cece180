import pytest
from judging import CountingJudge

from ttrlab.config.judge import CheckpointSelection, JudgeLimits
from ttrlab.rectifier.calibrate import CheckpointScore, checkpoint_score, choose_checkpoint, counts_by_question, frozen_record
from ttrlab.rectifier.judge import judge_identity
from ttrlab.rectifier.prompt import MATH, JudgeItem
from ttrlab.rectifier.source import Candidate


def score(step, accuracy=0.8, wrong_accepted=0.2, correct_withheld=0.2, invalid=0.0):
    return CheckpointScore(step, 100, accuracy, wrong_accepted, correct_withheld, invalid)


def chosen(*scores, **selection):
    return choose_checkpoint(scores, CheckpointSelection(**selection)).step


def test_the_most_accurate_checkpoint_is_chosen():
    assert chosen(score(25, 0.8), score(50, 0.9), score(75, 0.85)) == 50


def test_ties_go_to_fewer_wrong_accepted_then_fewer_withheld_then_fewer_invalid_then_the_earliest():
    assert chosen(score(1, wrong_accepted=0.3), score(2, wrong_accepted=0.1)) == 2
    assert chosen(score(1, correct_withheld=0.3), score(2, correct_withheld=0.1)) == 2
    assert chosen(score(1, invalid=0.04), score(2, invalid=0.01)) == 2
    assert chosen(score(3), score(2), score(4)) == 2


def test_a_checkpoint_that_is_often_invalid_comes_last():
    assert chosen(score(1, 0.99, invalid=0.06), score(2, 0.6)) == 2
    assert chosen(score(1, 0.7, invalid=0.5), score(2, 0.9, invalid=0.6)) == 2
    assert chosen(score(1, 0.99, invalid=0.06), score(2, 0.6), max_invalid=0.1) == 1


def test_balanced_selection_is_not_swayed_by_the_mix_of_right_and_wrong():
    accept_all, fair = score(1, 0.9, wrong_accepted=1.0, correct_withheld=0.0), score(2, 0.8, 0.2, 0.2)
    assert chosen(accept_all, fair) == 1
    assert chosen(accept_all, fair, by="balanced") == 2


def test_no_checkpoints_is_an_error():
    with pytest.raises(ValueError, match="no checkpoints"):
        choose_checkpoint([], CheckpointSelection())


def candidates():
    rows = [("a", "9" * 9, True), ("a", "1", True), ("b", "9" * 8, False), ("b", "2", False)]
    return [
        Candidate(q, i, JudgeItem(q, "s", answer), right, "majority_correct" if right else "majority_wrong")
        for i, (q, answer, right) in enumerate(rows)
    ]


def test_calibration_judges_all_candidates_in_one_batch_and_counts_by_question():
    judge = CountingJudge()
    counts = counts_by_question(judge, candidates())
    assert len(judge.batches) == 1
    found = checkpoint_score(25, counts)
    assert set(counts) == {"a", "b"}
    assert found == CheckpointScore(25, 4, 0.5, 0.5, 0.5, 0.0)
    assert found.balanced == 0.5


def test_calibration_without_wrong_candidates_is_refused():
    with pytest.raises(ValueError, match="right and wrong candidates"):
        checkpoint_score(1, counts_by_question(CountingJudge(), candidates()[:2]))


def test_the_frozen_record_binds_weights_prompt_limits_rule_and_table():
    scores = [score(25), score(50, 0.9, invalid=0.2)]
    arguments = (scores[0], scores, CheckpointSelection(), {"model.safetensors": "ab"}, MATH, JudgeLimits())
    record = frozen_record(*arguments)
    assert (record["step"], record["within_limits"], len(record["calibration"])) == (25, True, 2)
    assert record["prompt"] == {"version": "math-1", "hash": MATH.hash}
    assert record["identity"] == judge_identity(record["rectifier"], MATH, JudgeLimits())
    other = frozen_record(*arguments[:3], {"model.safetensors": "cd"}, *arguments[4:])
    assert other["identity"] != record["identity"]
