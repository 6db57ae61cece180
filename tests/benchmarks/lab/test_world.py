import numpy as np
import pytest
from pydantic import ValidationError

from ttrlab import grading
from ttrlab.benchmarks.lab import questions
from ttrlab.benchmarks.lab.corpus import answer, batch
from ttrlab.benchmarks.lab.world import CALIBRATION_SUMS, CORPUS_SUMS, FIT_SUMS, SUMS, TARGET_SUMS, TOPICS
from ttrlab.benchmarks.overlap import require_disjoint
from ttrlab.config.lab import REGIMES, LabBenchmark, Regime
from ttrlab.seeds import rng

EVEN = LabBenchmark(mix={"saturated": 8, "contested": 8, "reversed": 8, "trap": 8})


def test_the_error_has_as_many_digits_as_the_truth():
    assert all(10 <= total.wrong < total.right <= 99 for total in SUMS)


FIT = EVEN.model_copy(update={"part": "fit"})
CALIBRATION = EVEN.model_copy(update={"part": "calibration"})


def test_held_out_sums_are_in_no_other_part_and_not_in_the_corpus():
    target, calibration, seen = set(TARGET_SUMS), set(CALIBRATION_SUMS), set(FIT_SUMS) | set(CORPUS_SUMS)
    assert len(target) + len(calibration) + len(seen) == len(target | calibration | seen) == len(SUMS)


@pytest.mark.parametrize("source, target", [(FIT, EVEN), (CALIBRATION, EVEN), (CALIBRATION, FIT)])
def test_no_question_of_one_part_is_in_another_by_id_text_or_family(source, target):
    require_disjoint(*([question for question, _, _ in questions(part)] for part in (source, target)))


def test_the_size_of_an_answer_says_little_about_its_being_right_where_a_judge_is_fitted():
    """Errors are 10 too small, so the best cut over a level set of sums is just above chance; over all sums it reaches 62 %."""
    values = np.array([value for total in FIT_SUMS for value in (total.right, total.wrong)])
    assert best_threshold(values // 10, np.tile([True, False], len(FIT_SUMS))) <= 0.58


def test_questions_are_the_same_for_the_same_seed_and_unique():
    first, again, other = questions(EVEN), questions(EVEN), questions(EVEN.model_copy(update={"seed": 1}))
    assert first == again
    assert first != other
    assert len({question.prompt for question, _, _ in first}) == 32


def test_no_prompt_names_its_regime():
    for question, _, tags in questions(EVEN):
        assert tags["regime"] not in question.prompt


def test_every_response_of_the_corpus_has_an_answer_that_the_grader_reads():
    for _, response in batch(rng(0, "test"), REGIMES, 500):
        assert grading.extract(response, "integer") == response.rsplit("{", 1)[1][:-1]


@pytest.mark.parametrize("name", [name for name in REGIMES if name != "floor"])
def test_the_corpus_has_the_shares_that_the_regime_says(name):
    regime, draw = REGIMES[name], rng(0, "shares", name)
    sums = [CORPUS_SUMS[i] for i in draw.integers(0, len(CORPUS_SUMS), 8000)]
    texts = [answer(draw, regime, i % 8, total) for i, total in enumerate(sums)]
    right = np.mean([f"{{{total.right}}}" in text for total, text in zip(sums, texts, strict=True)])
    wrong = np.mean([f"{{{total.wrong}}}" in text for total, text in zip(sums, texts, strict=True)])
    assert right == pytest.approx(regime.right, abs=0.03)
    assert wrong == pytest.approx(regime.wrong, abs=0.03)


def best_threshold(values, labels):
    """Accuracy of the best one-feature rule, either way round."""
    cuts = np.unique(values)
    return max(max(np.mean((values >= cut) == labels), np.mean((values < cut) == labels)) for cut in cuts)


@pytest.mark.parametrize("feature", ["characters", "digits", "steps", "loose words", "tight words"])
def test_no_surface_feature_tells_right_from_the_planted_error(feature):
    """Balanced right and wrong responses over the regimes that a judge's source is drawn from."""
    draw = rng(1, "surface")
    measured = {
        "characters": len,
        "digits": lambda text: sum(sign.isdigit() for sign in text),
        "steps": lambda text: text.count("\n\n"),
        "loose words": lambda text: len({word for word in text.split() if word.isalpha()}),
        "tight words": lambda text: text.count("therefore"),
    }[feature]
    rows = []
    mirrored = {"contested": 1, "reversed": 1}
    for name in mirrored:
        regime = REGIMES[name]
        for right in (True, False):
            sure = Regime(
                right=float(right), wrong=float(not right), words_right=regime.words_right, words_wrong=regime.words_wrong, spread=0
            )
            for _ in range(500):
                total = CORPUS_SUMS[int(draw.integers(len(CORPUS_SUMS)))]
                rows.append((measured(answer(draw, sure, 0, total)), right))
    values, labels = np.array([row[0] for row in rows], dtype=float), np.array([row[1] for row in rows])
    assert best_threshold(values, labels) <= 0.55


def test_a_mix_of_unknown_regimes_or_too_many_questions_is_refused():
    with pytest.raises(ValidationError, match="unknown regimes stormy"):
        LabBenchmark(mix={"stormy": 3})
    with pytest.raises(ValueError, match="target part has 160 sums"):
        questions(LabBenchmark(mix={"saturated": 161}))


def test_every_regime_has_its_own_topics():
    assert len({topic for topics in TOPICS.values() for topic in topics}) == 8 * len(REGIMES)
