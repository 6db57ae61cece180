from pathlib import Path

import numpy as np
import pytest

from tests.workflow.world import ROOT
from ttrlab.adapt.schedule import total_steps
from ttrlab.config.catalogue import read_yaml
from ttrlab.evaluate.calibration import Calibration, Measurement, finished, spent_by_phase
from ttrlab.evaluate.cost import Assumption, draws, load_assumptions
from ttrlab.evaluate.price import PHASES, Estimate, estimates, makespan, measurements, quantiles, total
from ttrlab.evaluate.resolution import Spread, cell_resolutions, pooled_resolution
from ttrlab.evaluate.workload import cell_work
from ttrlab.stages.plan import load_plan
from ttrlab.stages.price import cost_model

ASSUMPTIONS = load_assumptions(ROOT / "config" / "cost.yaml")
UNMEASURED = Calibration([])


def plan_of(name, **changes):
    raw = read_yaml(ROOT / "config" / f"{name}.yaml")
    raw.pop("evidence", None)  # names the whole grid
    return load_plan({**raw, **changes}, ROOT / "config")


DEMO = plan_of("demo")


def model_of(plan, hardware="cpu"):
    return cost_model(plan, ASSUMPTIONS, hardware)


def price(plan, hardware="h100"):
    return total(estimates(plan, model_of(plan, hardware), UNMEASURED))


def test_draws_have_the_quantiles_that_are_assumed():
    found = np.quantile(draws(Assumption(range=(1.0, 3.0, 30.0), per="study", source=""), "x", ""), (0.1, 0.5, 0.9))
    assert found == pytest.approx([1, 3, 30], rel=0.15)


def test_an_assumption_that_shrinks_is_refused():
    with pytest.raises(ValueError, match="P10 <= P50 <= P90"):
        Assumption(range=(3, 2, 4), per="study", source="")


@pytest.mark.parametrize("name", ["config", "scope", "truer", "demo", "lab"])
def test_every_shipped_study_has_a_price_with_a_range(name):
    plan = plan_of(name)
    low, middle, high = quantiles(price(plan, "cpu" if name in ("demo", "lab") else "h100"))
    assert 0 < low < middle < high
    assert high / low > 2  # nothing is measured, so nothing narrow is claimed


def test_a_cells_work_is_what_its_schedule_samples_and_trains():
    cell = next(cell for cell in plan_of("config").cells if (cell.benchmark, cell.method) == ("aime24", "core"))
    work = list(cell_work(plan_of("config"), cell, 1e9))
    sampled = next(one for one in work if (one.stage, one.phase) == ("adapt", "sample"))
    training = plan_of("config").training(cell)
    assert sampled.amount == total_steps(30, training) * 8 * 64  # 3 steps a pass, the rest of 30 dropped
    assert {one.stage for one in work} == {"adapt", "evaluate", "curve", "score", "audit"}


def test_base_has_no_adaptation_to_pay_for():
    base = next(cell for cell in DEMO.cells if cell.method == "base")
    assert {one.stage for one in cell_work(DEMO, base, 1e6)} == {"evaluate", "score"}


def test_more_seeds_cost_in_proportion_and_a_larger_model_more():
    one, three = (price(plan_of("config", models=["qwen3-8b"], seeds=seeds)) for seeds in ([0], [0, 1, 2]))
    assert np.median(three) == pytest.approx(3 * np.median(one), rel=0.01)
    assert np.median(price(plan_of("config", models=["qwen2.5-math-1.5b"], seeds=[0]))) < np.median(one) / 2


def test_a_model_that_does_not_fit_holds_several_devices():
    plan = plan_of("config")
    (work,) = [one for one in cell_work(plan, plan.cells[-1], 12e9) if (one.stage, one.phase) == ("adapt", "load") and one.unit == "load"]
    assert model_of(plan, "h100").devices(work) == 4  # 12.2e9 parameters x 18 bytes in devices of 80 GB
    assert model_of(plan, "h200").devices(work) == 2


def test_a_model_without_parameters_is_refused_by_key(tmp_path):
    plan = plan_of("demo")
    entry = plan.catalogue.models["lab-llama"].model_copy(update={"source": "path"})
    catalogue = plan.catalogue.model_copy(update={"models": {"mine": entry}})
    with pytest.raises(ValueError, match=r"models\.mine\.parameters: not given"):
        model_of(plan.model_copy(update={"catalogue": catalogue}))


def step(phase, number, cpu, attempt=1):
    return {"attempt": attempt, "phase": phase, "step": number, "wall": 10 * cpu, "cpu": cpu}


BEGIN = {"attempt": 1, "event": "begin", "stage": "adapt", "identity": "x"}


def test_work_done_again_counts_once_and_the_first_steps_excess_apart():
    rows = [BEGIN, step("sample", 1, 5.0), step("sample", 2, 1.0), step("sample", 3, 9.0), step("sample", 3, 1.0, attempt=2)]
    assert spent_by_phase(rows) == {"sample": 3.0, "first": 4.0}


def test_devices_make_wall_clock_count_instead_of_cpu():
    rows = [BEGIN, {"event": "devices", "devices": ["H100"] * 4}, step("sample", 1, 1.0)]
    assert spent_by_phase(rows)["sample"] == 40.0


def test_an_attempt_without_an_end_is_not_finished():
    end = {"attempt": 1, "event": "end", "error": None}
    assert finished([BEGIN, end])
    assert not finished([BEGIN, end, {**BEGIN, "attempt": 2}])
    assert not finished([BEGIN, {**end, "error": "x"}])


def journal(updates, a_step):
    return [BEGIN, *(step("update", number, a_step) for number in range(1, updates + 1))]


def test_five_steps_of_one_cell_price_the_others():
    cell = DEMO.cells[2]
    model = model_of(DEMO)
    found = measurements(DEMO, model, {(cell.path, "adapt"): journal(5, 0.5)})
    priced = [one for one in estimates(DEMO, model, Calibration(found)) if one.part == "update"]
    own = next(one for one in priced if one.cell == cell)
    whole = 24 * 0.5
    assert 0.7 * whole < np.median(own.seconds) < 1.02 * whole  # agreement grows, so updates shrink
    unmeasured = [one for one in estimates(DEMO, model, UNMEASURED) if one.cell == cell and one.part == "update"]
    low, _, high = quantiles(own.seconds)
    prior_low, _, prior_high = quantiles(unmeasured[0].seconds)
    assert high / low < 1.5 < prior_high / prior_low


def test_a_whole_run_that_was_measured_is_priced_as_it_was():
    cell = DEMO.cells[2]
    model = model_of(DEMO)
    found = measurements(DEMO, model, {(cell.path, "adapt"): journal(24, 0.5)})
    (own,) = [one for one in estimates(DEMO, model, Calibration(found)) if one.part == "update" and one.cell == cell]
    assert np.median(own.seconds) == pytest.approx(12, rel=0.01)


def test_the_nearest_measurement_wins_and_an_unmeasured_phase_keeps_its_prior():
    key = measurements(DEMO, model_of(DEMO), {(DEMO.cells[2].path, "adapt"): journal(5, 1.0)})[0].key
    near = Measurement(key, 2.0, 1.0)
    far = Measurement(type(key)(key.stage, key.phase, "other", key.method, key.benchmark), 50.0, 1.0)
    prior, ones = np.full(1000, 3.0), np.ones(1000)
    assert np.median(Calibration([far, near]).draws(key, prior, ones)) == pytest.approx(6, rel=0.02)
    other = type(key)("pretrain", "train", key.model, "", "")
    assert (Calibration([far, near]).draws(other, prior, ones) == prior).all()


def job(seconds, held=1, path="a"):
    cell = DEMO.cells[0].__class__(path, "b", "c", 0)
    return Estimate(cell, "adapt", "sample", "m", np.full(1000, float(seconds * held)), held)


def test_jobs_are_packed_on_the_devices_that_there_are():
    jobs = [job(4, path="p"), job(3, path="q"), job(3, path="r")]
    assert makespan(jobs, 1)[1] == 10
    assert makespan(jobs, 2)[1] == 6
    assert makespan(jobs, 8)[1] == 4
    assert makespan([job(4, 2, "p"), job(3, 1, "q")], 2)[1] == 7


def test_a_job_wider_than_all_devices_is_refused_by_cell():
    with pytest.raises(ValueError, match="cell p/b/c/seed0: its adapt job holds 4 devices, 2 given"):
        makespan([job(1, 4, "p")], 2)


def test_one_aime_cell_resolves_about_eight_points_and_all_cells_together_less():
    plan = plan_of("config")
    spread = Spread(0.16, 0.0, 0.3)
    cells = cell_resolutions(plan, spread)
    assert cells["qwen3-8b", "aime24"] == pytest.approx(0.08, abs=0.003)
    assert cells["qwen3-8b", "math500"] < cells["qwen3-8b", "aime24"] / 4 + 0.001
    assert pooled_resolution(plan, spread) < min(cells.values())
    assert pooled_resolution(plan, spread) < pooled_resolution(plan, Spread(0.16, 0.0, 0.9))


def test_every_part_of_a_price_is_one_of_the_documented():
    assert {one.part for one in estimates(DEMO, model_of(DEMO), UNMEASURED)} <= set(PHASES)
    assert Path(ROOT / "docs" / "plan.md").is_file()
