"""A cell whose judge is a server process that dies: the adaptation as a process of its own, to its end."""

import subprocess
import sys
import time

import pytest
from served import Served

from tests.workflow.bigram import POLICY, save_bigram
from tests.workflow.world import artefacts, environment
from ttrlab.benchmarks import Loaded, write_benchmark
from ttrlab.config.catalogue import PromptStyle
from ttrlab.config.judge import JudgeLimits, ServerHome
from ttrlab.config.settings import Sampling, Training
from ttrlab.config.specs import AdaptSpec, JudgeForm, JudgeSpec
from ttrlab.files import read_jsonl
from ttrlab.rewards import Truer
from ttrlab.types import Question

QUESTIONS = tuple(Question(f"q{i}", f"{i}+{i}=") for i in range(8))
DELAY = ("--delay", "0.1")


def spec_at(server, restart_seconds):
    form = JudgeForm(wording="math", style=PromptStyle(where="none"), revision=None, limits=JudgeLimits())
    home = ServerHome(url=server.url, served_model="judge", concurrency=1, restart_seconds=restart_seconds)
    return AdaptSpec(
        model="tiny", benchmark="sums", method="truer", seed=0, kind="integer", rows=len(QUESTIONS), engine="torch",
        prompt=PromptStyle(template="plain", where="none"), revision=None, rule=Truer(),
        judge=JudgeSpec(model="judge", form=form, home=home, engine="torch", trained=False),
        sampling=Sampling(max_new_tokens=8, max_prompt_tokens=32),
        training=Training(votes=16, train=16, batch=8, updates=3, warmup_steps=0, checkpoint_every=3, learning_rate=1e-2),
    )  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    save_bigram(folder / "tiny", POLICY)
    loaded = Loaded(QUESTIONS, {q.id: "0" for q in QUESTIONS}, {q.id: {} for q in QUESTIONS}, {})
    write_benchmark(loaded, folder / "questions.jsonl", folder / "gold.jsonl")
    return folder


@pytest.fixture
def server(world):
    served = Served(world)
    served.log.unlink(missing_ok=True)
    served.start(*DELAY)
    yield served
    served.kill()


def adaptation(world, out, server, restart_seconds=120.0):
    arguments = ["--spec", spec_at(server, restart_seconds).model_dump_json(), "--questions", str(world / "questions.jsonl")]
    arguments += ["--model", str(world / "tiny"), "--judge", str(world / "tiny"), "--out", str(world / out)]
    command = [sys.executable, "-m", "ttrlab.stages.adapt", *arguments]
    return subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, text=True)


def finish(process):
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors


def kill_in_the_first_step(world, out, server, process, answers):
    """Kill the server once it has given so many answers, while the first step is still without a record."""
    while server.answered < answers:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.005)
    server.kill()
    assert not list((world / out / "steps").glob("*"))


def made(world, out):
    """Step records, roll-outs with their decisions, judgements and weights: what the cell made but for the files that tell its spec."""
    told = ("manifest.json", "spec.json", "README.md", "hashes.json")
    found = {name: value for name, value in artefacts(world / out).items() if not name.endswith(told)}
    assert {"steps.jsonl", "judgements.jsonl", "rollouts/step000003.jsonl.gz", "checkpoints/step000003/model.safetensors"} <= set(found)
    return found


@pytest.fixture(scope="module")
def undisturbed(world):
    served = Served(world)
    served.start()
    finish(adaptation(world, "whole", served))
    served.kill()
    records = list(read_jsonl(world / "whole" / "steps.jsonl"))
    assert len(records) == 3
    assert all(sum(record[f"rule/accepted_rank{rank}"] for record in records) > 0 for rank in (1, 2))
    assert any(0 < record["abstained_share"] < 1 for record in records)
    return made(world, "whole")


def test_a_cell_whose_server_is_killed_and_restarted_in_a_step_ends_with_the_decisions_and_weights_of_an_undisturbed_one(
    world, undisturbed, server
):
    process = adaptation(world, "restarted", server)
    for answers in (2, 5):
        kill_in_the_first_step(world, "restarted", server, process, answers)
        server.start(*DELAY)
    finish(process)
    assert made(world, "restarted") == undisturbed


def test_a_cell_whose_server_stays_dead_stops_with_its_address_and_is_the_undisturbed_one_when_resumed(world, undisturbed, server):
    process = adaptation(world, "dead", server, restart_seconds=1.0)
    kill_in_the_first_step(world, "dead", server, process, 3)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    assert f"{server.url}/v1/chat/completions did not answer for 1 s" in errors
    assert "Traceback" not in errors
    assert not (world / "dead" / "manifest.json").exists()
    server.start()
    finish(adaptation(world, "dead", server, restart_seconds=1.0))
    assert made(world, "dead") == undisturbed
