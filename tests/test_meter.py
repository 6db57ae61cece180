import time

import pytest

from ttrlab.files import read_json, read_jsonl
from ttrlab.meter import Meter, cpu_seconds, metered, summary


def burn(seconds):
    end = cpu_seconds() + seconds
    while cpu_seconds() < end:
        sum(range(1000))


def test_phases_are_summed_with_their_counts_and_sleep_costs_no_cpu(tmp_path):
    with metered(tmp_path, "adapt", "x") as meter:
        for step in (1, 2):
            with meter.phase("sample", step) as counts:
                burn(0.05)
                counts["tokens"] = 10
            with meter.phase("wait", step):
                time.sleep(0.05)
    cost = read_json(tmp_path / "cost.json")
    assert cost["phases"]["sample"]["tokens"] == 20
    assert cost["phases"]["sample"]["cpu"] >= 0.1
    assert cost["phases"]["wait"]["cpu"] < 0.03
    assert cost["phases"]["wait"]["wall"] >= 0.1
    assert cost["attempts"] == 1
    assert cost["phases"]["start"]["cpu"] > 0
    assert cost["peak_rss_mb"] > 1


def test_work_that_a_later_attempt_did_again_is_discarded_work(tmp_path):
    with pytest.raises(RuntimeError, match="node"), metered(tmp_path, "adapt", "x") as meter:
        for step in (1, 2):
            meter.spent("update", step, 3.0, 2.0, {"tokens": 5})
        raise RuntimeError("node down")
    assert not (tmp_path / "cost.json").exists()
    with metered(tmp_path, "adapt", "x") as meter:
        meter.spent("update", 2, 4.0, 3.0, {"tokens": 6})
    update = read_json(tmp_path / "cost.json")["phases"]["update"]
    assert update == {"wall": 7.0, "cpu": 5.0, "discarded_wall": 3.0, "discarded_cpu": 2.0, "tokens": 11}
    events = [row for row in read_jsonl(tmp_path / "cost.jsonl") if row.get("event") == "end"]
    assert [row["error"] for row in events] == ["RuntimeError: node down", None]


def test_a_phase_that_fails_is_counted(tmp_path):
    with pytest.raises(ValueError), metered(tmp_path, "adapt", "x") as meter, meter.phase("decide", 3):
        raise ValueError("no")
    assert [row["step"] for row in read_jsonl(tmp_path / "cost.jsonl") if row.get("phase") == "decide"] == [3]


def test_the_journal_of_another_spec_is_replaced(tmp_path):
    for identity in ("old", "old", "new"):
        with metered(tmp_path, "score", identity):
            pass
    assert read_json(tmp_path / "cost.json")["attempts"] == 1


def test_without_a_journal_the_block_runs_and_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Meter().phase("sample") as counts:
        counts["tokens"] = 1
    assert not list(tmp_path.iterdir())


def test_a_sum_names_the_devices_of_the_last_attempt(tmp_path):
    with metered(tmp_path, "adapt", "x") as meter:
        meter.devices(["NVIDIA H100"] * 2)
    assert summary(read_jsonl(tmp_path / "cost.jsonl"))["devices"] == ["NVIDIA H100", "NVIDIA H100"]
