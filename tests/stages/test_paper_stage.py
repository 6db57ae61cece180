"""Paper against measured from files: printed numbers beside a hand-made study, and a rule that was moved after the first run."""

import sys

import pandas as pd
import pytest

from tests.evaluate.test_measured import scored
from ttrlab.config.evidence import Evidence
from ttrlab.config.specs import EvidenceSpec
from ttrlab.evaluate.paper import COLUMNS
from ttrlab.files import write_json, write_text
from ttrlab.stages import paper

EVIDENCE = Evidence(papers=("core",), names={"ours": "core"}, models={"all": ("a", "b", "c")}, benchmarks={"all": ("x", "y")})
SPEC = EvidenceSpec(study="tiny", metrics=("mean@4",), methods=("majority", "ours", "oracle"), evidence=EVIDENCE)
PRINTED = [
    ["core", "abstract", "all", "all", "core - majority", "mean@4", "14.0", "pp", ""],
    ["core", "table", "a", "x", "core", "mean@4", "61.0", "%", ""],
    ["core", "table", "a", "x", "majority", "mean@4", "90.0", "%", ""],
    ["core", "table", "a", "x", "core - majority", "mean@4", "80.0", "pp", ""],
    ["core", "table", "a", "x", "oracle", "mean@4", "not given", "%", ""],
    ["core", "table", "z", "x", "core", "mean@4", "50.0", "%", ""],
    ["core", "table", "z", "y", "core", "mean@4", "not given", "%", ""],
    ["core", "setup", "all", "all", "core", "setting: tau", "0.25", "", ""],
]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    pd.DataFrame(PRINTED, columns=list(COLUMNS)).to_csv(folder / "core.csv", index=False)
    scored().to_csv(folder / "questions.csv", index=False)
    ends = scored()[["model", "benchmark"]].drop_duplicates().assign(step=24, endpoint=True)
    ends.to_csv(folder / "summary.csv", index=False)
    write_text(folder / "audit.csv", "\n")
    write_text(folder / "efficiency.csv", "\n")
    write_json(folder / "rules.json", EVIDENCE.rules())
    return folder


def build(study, out, spec=SPEC):
    files = {"--papers": study / "core.csv", "--results": study, "--fixed": study / "rules.json", "--table": out}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "argv", ["paper", "--spec", spec.model_dump_json(), *(str(part) for pair in files.items() for part in pair)])
        paper.main()
    return pd.read_csv(out.with_suffix(".csv"), keep_default_na=False)


def test_every_claim_has_a_verdict_and_not_given_stays(study, tmp_path):
    table = build(study, tmp_path / "paper")
    assert table["verdict"].tolist() == ["reproduced", "reproduced", "contradicted", "contradicted", "unresolved", "not run", "not run"]
    assert table["value"].tolist() == ["14.0", "61.0", "90.0", "80.0", "not given", "50.0", "not given"]
    assert table["n"].tolist()[:2] == ["120", "20"]
    assert set(table["seeds"][:5]) == {"3"}


def test_the_readable_table_counts_what_says_nothing_and_names_the_rule(study, tmp_path):
    build(study, tmp_path / "paper")
    text = (tmp_path / "paper.md").read_text()
    assert "2 reproduced, 1 unresolved, 2 contradicted, 2 not run; 1 of them neither given nor run" in text
    assert "fixed before the first run" in text
    assert "effect_share 0.5" in text
    assert (tmp_path / "paper.tex").read_text().count(r"\\") > 6


def test_a_rule_that_was_changed_after_the_first_run_is_said_to_be(study, tmp_path):
    lax = EVIDENCE.model_copy(update={"verdict": EVIDENCE.verdict.model_copy(update={"tolerance": 60.0})})
    table = build(study, tmp_path / "paper", SPEC.model_copy(update={"evidence": lax}))
    assert table["verdict"].tolist()[2] == "reproduced"
    assert "CHANGED after the first run began: verdict.tolerance: 2.0 -> 60.0" in (tmp_path / "paper.md").read_text()


def test_two_builds_are_the_same_bytes(study, tmp_path):
    for turn in ("a", "b"):
        build(study, tmp_path / turn / "paper")
    for kind in ("csv", "md", "tex"):
        assert (tmp_path / "a" / f"paper.{kind}").read_bytes() == (tmp_path / "b" / f"paper.{kind}").read_bytes()
