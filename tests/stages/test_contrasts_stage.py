"""Every method against base and against the vote: the table that a study ends in."""

import sys

import numpy as np
import pandas as pd
import pytest

from tests.report.world import METHODS, METRIC, SPEC, make_plan, tables
from ttrlab.config.evidence import Evidence
from ttrlab.evaluate.tests import holm, wilcoxon_test
from ttrlab.files import hashes
from ttrlab.stages import contrasts


@pytest.fixture(scope="module")
def scored():
    return tables(make_plan(40), 40)[0]


def test_base_is_compared_with_nothing_and_no_method_with_itself(scored):
    found = [(one.method, one.baseline) for one in contrasts.study_contrasts(scored, METRIC, METHODS)]
    assert found == [("majority", "base"), ("core", "base"), ("oracle", "base"), ("core", "majority"), ("oracle", "majority")]


def test_a_contrast_is_the_paired_difference_with_holm_over_the_metric(scored):
    table = contrasts.differences(scored, [METRIC], METHODS)
    means = scored.groupby(["method", "question_id"], sort=False).value.mean().unstack(0)
    for row in table.itertuples():
        difference = means[row.method] - means[row.baseline]
        assert row.difference == pytest.approx(difference.mean())
        assert row.wilcoxon_p == pytest.approx(wilcoxon_test(difference.to_numpy()).p)
        assert row.detectable == pytest.approx(2.80 * row.standard_error, rel=1e-2)
        assert row.population_low < row.difference < row.population_high
    np.testing.assert_allclose(table.wilcoxon_p_holm, holm(table.wilcoxon_p.to_numpy()))


def test_each_metric_is_a_family_of_its_own(scored):
    twice = pd.concat([scored, scored.assign(metric="pass@4")])
    both = contrasts.differences(twice, [METRIC, "pass@4"], METHODS)
    alone = contrasts.differences(scored, [METRIC], METHODS)
    for metric in (METRIC, "pass@4"):
        np.testing.assert_array_equal(both[both.metric == metric].wilcoxon_p_holm, alone.wilcoxon_p_holm)


def test_own_scores_have_intervals_and_no_tests(scored):
    own = contrasts.own_scores(scored, [METRIC], METHODS)
    assert list(own.columns) == list(contrasts.SCORE_COLUMNS)
    assert own.method.tolist() == list(METHODS)
    assert own.value.between(own.population_low, own.population_high).all()


def test_a_study_without_anything_to_compare_says_so(scored):
    table = contrasts.differences(scored, [METRIC], ["oracle"])
    assert len(table) == 0
    assert len(contrasts.readable(table)) == 0
    assert len(contrasts.families(scored, METRIC, ["oracle"], Evidence())) == 0


def build(scored, folder, monkeypatch, spec=SPEC):
    folder.mkdir(parents=True)
    scored.to_csv(folder / "questions.csv", index=False)
    options = {"--questions": "questions.csv", "--contrasts": "contrasts.csv", "--intervals": "intervals.csv", "--tables": "tables"}
    arguments = [part for name, file in options.items() for part in (name, str(folder / file))]
    monkeypatch.setattr(sys, "argv", ["contrasts", "--spec", spec.model_dump_json(), *arguments])
    contrasts.main()


def test_the_files_are_the_same_bytes_twice_and_say_n_and_seeds(scored, tmp_path, monkeypatch):
    for turn in ("a", "b"):
        build(scored, tmp_path / turn, monkeypatch)
    assert hashes(tmp_path / "a") == hashes(tmp_path / "b")
    assert sorted(path.name for path in (tmp_path / "a" / "tables").iterdir()) == [
        f"{table}.{kind}" for table in ("contrasts", "families") for kind in ("csv", "md", "tex")
    ]
    text = (tmp_path / "a" / "tables" / "contrasts.md").read_text()
    assert "| n | seeds |" in text
    assert "core - majority" in text


def test_a_study_without_anything_to_compare_writes_why(scored, tmp_path, monkeypatch):
    build(scored, tmp_path / "a", monkeypatch, SPEC.model_copy(update={"methods": ("oracle",)}))
    assert "No two methods of this study can be compared" in (tmp_path / "a" / "tables" / "families.md").read_text()
