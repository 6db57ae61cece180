"""The page's data: what it holds, what it leaves out, the same bytes twice."""

import base64
import json
import re
import sys

import numpy as np
import pandas as pd
import pytest

from tests.report.world import SPEC, make_plan, received, unpacked, write_study
from ttrlab.files import hashes, is_whole
from ttrlab.report.page.chunks import plain, script
from ttrlab.report.page.samples import cut
from ttrlab.signals.similarity import tfidf_cosine
from ttrlab.stages import page
from ttrlab.stages.plan import load_frozen


def build(study, out, *extra):
    spec = SPEC.model_copy(update={"methods": load_frozen(study / "plan.json").study.methods})
    arguments = ["--spec", spec.model_dump_json(), "--plan", study / "plan.json", "--results", study, "--out", out, *extra]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "argv", ["page", *map(str, arguments)])
        page.main()
    return out


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return write_study(tmp_path_factory.mktemp("study"), make_plan(3), 3)


@pytest.fixture(scope="module")
def built(study, tmp_path_factory):
    return build(study, tmp_path_factory.mktemp("out") / "page")


def test_two_builds_have_the_same_bytes_and_the_folder_is_whole(study, built, tmp_path):
    again = build(study, tmp_path / "page")
    assert hashes(built) == hashes(again)
    assert is_whole(built)
    assert {path.name for path in built.iterdir()} >= {"index.html", "page.css", "core.js", "data", "figures"}


def test_the_overview_has_every_score_with_n_seeds_and_interval_and_every_contrast(built, study):
    data = received(built / "data" / "study.js")
    summary = pd.read_csv(study / "summary.csv")
    assert [score["method"] for score in data["scores"]] == ["base", "majority", "core", "oracle"]
    for score in data["scores"]:
        assert score["mean"] == pytest.approx(summary[summary.method == score["method"]].value.mean(), rel=1e-4)
        assert (score["n"], score["seeds"]) == (3, 2)
        assert score["population_low"] <= score["mean"] <= score["population_high"]
    found = [(row["method"], row["baseline"]) for row in data["contrasts"]]
    assert found == [("majority", "base"), ("core", "base"), ("oracle", "base"), ("core", "majority"), ("oracle", "majority")]


def test_the_overview_has_the_claims_that_say_something_and_the_rule(built):
    data = received(built / "data" / "study.js")
    found = [(claim["value"], claim["verdict"], claim["n"]) for claim in data["claims"]]
    assert found == [("4.0", "contradicted", 3), ("50.0", "not run", None)]
    assert data["rule"] == "Paper against measured: the rule"


def test_what_is_vendored_has_its_licence_is_small_and_asks_for_nothing_outside(built):
    katex = built / "katex"
    assert "MIT" in (katex / "LICENSE").read_text()
    assert sum(path.stat().st_size for path in katex.rglob("*") if path.is_file()) < 2e6
    urls = re.findall(r"url\(([^)]*)\)", (katex / "katex.min.css").read_text())
    assert urls
    assert all((katex / url).is_file() for url in urls)


def test_a_study_that_is_compared_with_no_paper_has_no_claims(tmp_path):
    study = write_study(tmp_path / "study", make_plan(1), 1)
    for kind in ("csv", "md"):
        (study / "tables" / f"paper.{kind}").unlink()
    assert received(build(study, tmp_path / "page") / "data" / "study.js")["claims"] == []


def test_methods_that_drew_the_same_rollouts_share_a_sample_and_later_ones_do_not(built):
    data = received(built / "data" / "question-0-1.js")
    made = [(sample["step"], sample["by"], [one["method"] for one in sample["decisions"]]) for sample in data["samples"]]
    assert made[0] == (0, [], [])
    assert made[1] == (1, ["majority", "core", "oracle"], ["majority", "core", "oracle"])
    assert made[2:] == [(2, [name], [name]) for name in ("majority", "core", "oracle")]


def test_rollouts_answers_verdicts_and_texts_are_aligned(built):
    data, texts = received(built / "data" / "question-0-1.js"), unpacked(built / "data" / "texts-0-1.js")
    sample = data["samples"][1]
    assert sample["classes"] == [0, 1, 0, -1]
    assert (sample["answers"], sample["verdicts"]) == (["2", "1"], [0, 1])
    assert texts[1] == [f"so the answer is 7 #{place}" for place in range(4)]
    alike = np.frombuffer(base64.b64decode(sample["similarity"]), dtype=np.uint8).reshape(4, 4)
    np.testing.assert_array_equal(alike, np.rint(100 * tfidf_cosine(texts[1])))
    assert list(sample["signals"]) == ["mean_logprob"]  # all of entropy is missing
    assert [len(kept) for kept in texts] == [4] * len(data["samples"])


def test_the_course_over_training_has_every_visit_of_every_seed(built):
    visits = received(built / "data" / "question-0-2.js")["visits"]
    assert len(visits) == 3 * 2 * 2
    assert {visit["state"] for visit in visits} == {"wrong"}
    assert visits[0]["share"] == 0.5
    assert visits[0]["correct"] == 0.25


def test_the_question_list_says_what_the_filters_need(built):
    first = received(built / "data" / "pair-0.js")["questions"][0]
    assert first["tags"] == [["level", "0"], ["regime", "contested"]]
    assert first["last"] == ["", "wrong", "wrong", "wrong"]
    assert first["split"] is False  # majority and core agree, and the oracle does not count


def test_replayed_decisions_stand_beside_those_of_training(tmp_path):
    study = write_study(tmp_path / "study", make_plan(1), 1)
    stored = study / "cells" / "m" / "b" / "majority" / "seed0"
    row = {"question_id": "q0", "step": 2, "answer_class": [0, 1, 0, -1], "rewards": [0.0, 1.0, 0.0, 0.0], "pseudo_label": 1,
           "labels": None, "weight": 0.5, "abstained": False, "stats": {}, "per_rollout": {}}  # fmt: skip
    (stored / "replay" / "decisions").mkdir(parents=True)
    (stored / "replay" / "manifest.json").write_text("{}")
    (stored / "replay" / "decisions" / "ec.jsonl").write_text(json.dumps(row) + "\n")
    out = build(study, tmp_path / "page")
    sample = received(out / "data" / "question-0-0.js")["samples"][2]
    assert [(made["method"], made["replayed"], made["state"]) for made in sample["decisions"]] == [
        ("majority", False, "wrong"), ("ec", True, "right"),
    ]  # fmt: skip
    assert received(out / "data" / "pair-0.js")["questions"][0]["split"] is True


def test_unpublishable_items_are_left_out_unless_asked_for(tmp_path):
    study = write_study(tmp_path / "study", make_plan(2, publishable=False), 2, prompt="SECRET {}", text="SECRET")
    out = build(study, tmp_path / "page")
    assert not [path for path in out.rglob("*") if path.is_file() and b"SECRET" in path.read_bytes()]
    assert received(out / "data" / "study.js")["pairs"][0]["shown"] is False
    assert received(out / "data" / "study.js")["scores"]
    assert not list((out / "data").glob("texts-*"))
    asked = build(study, tmp_path / "asked", "--include-unpublishable")
    assert received(asked / "data" / "question-0-0.js")["prompt"] == "SECRET 0"
    assert unpacked(asked / "data" / "texts-0-0.js")[0][0] == "SECRET #0"


def test_rollouts_beside_other_decisions_are_refused_by_name(tmp_path):
    study = write_study(tmp_path / "study", make_plan(2), 2)
    path = study / "cells" / "m" / "b" / "core" / "seed0" / "adapt"
    (path / "decisions" / "step000001.jsonl.gz").write_bytes((path / "decisions" / "step000002.jsonl.gz").read_bytes())
    with pytest.raises(ValueError, match="core/seed0/adapt: roll-outs of 'q0', step 1"):
        build(study, tmp_path / "page")
    assert not (tmp_path / "page").exists()


def test_a_chunk_is_ascii_and_cannot_end_its_script():
    text = "</script><!-- \u2028 \u2029 & \ud800 \U0001f600"
    packed = script("x", {"text": text})
    assert packed.isascii()
    assert not set("<>&") & set(packed)
    assert json.loads(packed[packed.index(",") + 1 : packed.rindex(");")]) == {"text": text}


def test_numbers_are_short_and_missing_ones_null_and_prototypes_refused():
    assert plain([0.123456789, float("nan"), float("inf"), 2.0, True, (1,)]) == [0.12346, None, None, 2, True, [1]]
    with pytest.raises(ValueError, match="__proto__"):
        plain({"__proto__": 1})


def test_a_long_text_loses_its_middle_and_says_how_much():
    assert cut("short") == "short"
    assert cut("a" * 60 + "b" * 60, 90) == "a" * 60 + "\n[... 30 characters left out ...]\n" + "b" * 30
