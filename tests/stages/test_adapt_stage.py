"""The adapt stage as a process: killed, resumed, stopped, misused."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.engines.tiny import save_model
from tests.workflow.world import artefacts, environment
from ttrlab.benchmarks import Loaded, write_benchmark
from ttrlab.config.catalogue import PromptStyle
from ttrlab.config.judge import JudgeLimits, ProcessHome
from ttrlab.config.settings import Sampling, Training
from ttrlab.config.specs import AdaptSpec, JudgeForm, JudgeSpec
from ttrlab.files import read_json, read_jsonl
from ttrlab.rewards import Majority, Oracle, Truer
from ttrlab.types import Question

SPEC = AdaptSpec(
    model="tiny", benchmark="sums", method="majority", seed=0, kind="integer", rows=6, engine="torch",
    prompt=PromptStyle(template="plain", where="none"), revision=None, rule=Majority(),
    sampling=Sampling(max_new_tokens=8, max_prompt_tokens=32),
    training=Training(votes=4, train=4, batch=3, episodes=20, checkpoint_every=15, kl_coefficient=0.01, learning_rate=1e-3),
)  # fmt: skip
LIMITS = JudgeLimits(input_tokens=4096, output_tokens=8, context_tokens=4104)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("adapt")
    save_model(folder / "tiny")
    questions = tuple(Question(f"q{i}", f"{i}+{i}=") for i in range(6))
    loaded = Loaded(questions, {f"q{i}": str(2 * i) for i in range(6)}, {f"q{i}": {} for i in range(6)}, {})
    write_benchmark(loaded, folder / "questions.jsonl", folder / "gold.jsonl")
    return folder


def command(world, out, spec=SPEC, *more):
    questions, model = str(world / "questions.jsonl"), str(world / "tiny")
    arguments = ["--spec", spec.model_dump_json(), "--questions", questions, "--model", model, "--out", str(out), *more]
    return [sys.executable, "-m", "ttrlab.stages.adapt", *arguments]


def run(*arguments):
    return subprocess.run(command(*arguments), env=environment(), capture_output=True, text=True, check=False)


def start_and_wait_for_step(world, out, step):
    process = subprocess.Popen(command(world, out), env=environment(), stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while not (out / "steps" / f"step{step:06d}.json").exists():
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.005)
    return process


@pytest.fixture(scope="module")
def undisturbed(world):
    done = run(world, world / "whole")
    assert done.returncode == 0, done.stderr
    return artefacts(world / "whole")


def test_a_finished_run_has_records_rollouts_decisions_checkpoints_and_no_state(world, undisturbed):
    records = [json.loads(line) for line in (world / "whole" / "steps.jsonl").read_text().splitlines()]
    assert [record["step"] for record in records] == list(range(1, 41))
    assert {"reward_mean", "weight_mean", "majority_ratio", "unparsed_share", "truncated_share", "tokens", "entropy"} <= set(records[0])
    assert {"engine/grad_norm", "engine/kl", "engine/learning_rate"} <= set(records[0])
    assert {name.split("/")[1] for name in undisturbed if name.startswith("checkpoints/")} == {"step000015", "step000030", "step000040"}
    assert not any(name.startswith("state/") for name in undisturbed)
    assert sum(name.startswith("rollouts/") for name in undisturbed) == 40


def test_a_run_killed_twice_ends_with_the_bytes_of_an_undisturbed_one(world, undisturbed):
    out = world / "killed"
    for step in (3, 21):
        process = start_and_wait_for_step(world, out, step)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert not (out / "manifest.json").exists()
    assert run(world, out).returncode == 0
    assert artefacts(out) == undisturbed
    cost = read_json(out / "cost.json")
    assert cost["attempts"] == 3
    assert cost["phases"]["load"]["discarded_cpu"] > 0
    assert cost["phases"]["sample"]["tokens"] == sum(record["tokens"] for record in read_jsonl(out / "steps.jsonl"))


def test_a_damaged_state_is_passed_over_for_the_one_before(world, undisturbed):
    out = world / "damaged"
    process = start_and_wait_for_step(world, out, 6)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    newest = max((out / "state").glob("step*/state.pt"))
    newest.write_bytes(newest.read_bytes()[:-100])
    assert run(world, out).returncode == 0
    assert artefacts(out) == undisturbed


def test_sigterm_stops_at_a_step_boundary_and_says_where_it_goes_on(world, undisturbed):
    out = world / "stopped"
    process = start_and_wait_for_step(world, out, 5)
    process.terminate()
    _, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "stopped by SIGTERM after step" in errors
    assert run(world, out).returncode == 0
    assert artefacts(out) == undisturbed


def test_a_second_run_in_the_same_folder_is_refused_while_the_first_lives(world):
    out = world / "twice"
    process = start_and_wait_for_step(world, out, 1)
    second = run(world, out)
    process.kill()
    process.wait()
    assert second.returncode != 0
    assert f"process {process.pid}" in second.stderr


def test_another_spec_starts_anew_and_keeps_what_was_there(world):
    out = world / "respecified"
    short = SPEC.model_copy(update={"training": SPEC.training.model_copy(update={"episodes": 1})})
    assert run(world, out, short).returncode == 0
    other = short.model_copy(update={"seed": 1})
    assert run(world, out, other).returncode == 0
    assert (world / "respecified.previous" / "manifest.json").exists()
    assert json.loads((out / "manifest.json").read_text())["spec"]["seed"] == 1


@pytest.mark.parametrize(
    "change, more, message",
    [
        ({"rows": 7}, (), "6 questions, but the benchmark entry states rows: 7"),
        ({}, ("--gold", "gold.jsonl"), "rule 'majority' must not get --gold"),
        ({"rule": Oracle()}, (), "rule 'oracle' needs --gold"),
        ({"rule": Truer()}, (), "rule 'truer' needs a judge"),
        ({"engine": "openrlhf"}, (), "training.dtype=float32: OpenRLHF trains in bfloat16"),
    ],
)
def test_misuse_is_one_line_that_names_the_culprit(world, tmp_path, change, more, message):
    done = run(world, tmp_path / "out", SPEC.model_copy(update=change), *more)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_with_a_judge_in_its_process_abstains_where_there_is_nothing_to_accept(world, tmp_path):
    """The random model writes no boxed answer, so the cascade has no candidate: every question abstains, and says so."""
    form = JudgeForm(wording="math", style=SPEC.prompt, revision=None, limits=LIMITS)
    judge = JudgeSpec(model="tiny", form=form, home=ProcessHome(), engine="torch", trained=False)
    short = SPEC.training.model_copy(update={"episodes": 1})
    spec = SPEC.model_copy(update={"rule": Truer(), "judge": judge, "training": short})
    done = run(world, tmp_path / "out", spec, "--judge", str(world / "tiny"))
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in (tmp_path / "out" / "steps.jsonl").read_text().splitlines()]
    assert [(record["abstained_share"], record["unparsed_share"]) for record in records] == [(1.0, 1.0), (1.0, 1.0)]
