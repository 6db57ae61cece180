"""OpenRLHF's real command line, Ray, DeepSpeed and gloo on the CPU, with a stand-in for vLLM: `make test-openrlhf`, some minutes a rule."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("openrlhf", reason="OpenRLHF is not installed in this environment: make test-openrlhf runs these tests in its own")

from tests.engines.openrlhf.specs import CPU, spec
from tests.engines.tiny import save_model
from tests.workflow.bigram import POLICY, save_bigram
from ttrlab.benchmarks import Loaded, write_benchmark
from ttrlab.config.catalogue import PromptStyle
from ttrlab.config.judge import JudgeLimits, ServerHome
from ttrlab.config.specs import JudgeForm, JudgeSpec
from ttrlab.files import read_json, read_jsonl
from ttrlab.rewards import Core, Majority, Truer
from ttrlab.types import Question

pytestmark = [pytest.mark.openrlhf, pytest.mark.slow, pytest.mark.timeout(3600)]
STAND_INS = Path(__file__).parent / "stand_ins"
PORT = 6391


def surroundings():
    paths = [str(STAND_INS), str(Path(__file__).parents[3]), str(Path(__file__).parents[3] / "src")]
    bare = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    return {
        **bare, "PYTHONPATH": os.pathsep.join(paths), "RAY_ADDRESS": f"127.0.0.1:{PORT}", "DS_ACCELERATOR": "cpu", "OMP_NUM_THREADS": "1",
        "TOKENIZERS_PARALLELISM": "false", "RAY_memory_monitor_refresh_ms": "0", "GLOO_SOCKET_IFNAME": "lo",
    }  # fmt: skip


@pytest.fixture(scope="module")
def ray():
    """A Ray of three GPUs in name: one each for the policy, its reference and the engine."""
    environment = {name: value for name, value in surroundings().items() if name != "RAY_ADDRESS"}
    ray = [str(Path(sys.executable).parent / "ray")]
    head = [
        "start",
        "--head",
        f"--port={PORT}",
        "--num-gpus=3",
        "--num-cpus=16",
        "--include-dashboard=false",
        "--object-store-memory=200000000",
    ]
    subprocess.run([*ray, *head], env=environment, check=True, capture_output=True)
    yield
    subprocess.run([*ray, "stop", "--force"], env=environment, check=True, capture_output=True)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cluster")
    save_model(folder / "tiny", "qwen2")
    questions = tuple(Question(f"q{i}", f"{i}+{i}=") for i in range(6))
    loaded = Loaded(questions, {q.id: "2" for q in questions}, {q.id: {} for q in questions}, {})
    write_benchmark(loaded, folder / "questions.jsonl", folder / "gold.jsonl")
    return folder


def started(folder, out, a_spec, *more, model="tiny"):
    """The stage as a process."""
    command = [sys.executable, "-m", "ttrlab.stages.adapt", "--spec", a_spec.model_dump_json(), "--hardware", f"{CPU},patience=900"]
    files = ["--questions", str(folder / "questions.jsonl"), "--model", str(folder / model), "--out", str(out)]
    return subprocess.Popen([*command, *files, *more], env=surroundings(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def adapt(folder, out, a_spec, *more, model="tiny"):
    """Run the stage to its end; the records of its steps."""
    process = started(folder, out, a_spec, *more, model=model)
    said, _ = process.communicate()
    log = out / "openrlhf/openrlhf.log"
    assert process.returncode == 0, said[-2000:] + (log.read_text()[-4000:] if log.exists() else "")
    return list(read_jsonl(out / "steps.jsonl"))


@pytest.mark.parametrize("rule", [Majority(), Core()], ids=["majority", "core"])
def test_a_run_ends_with_steps_checkpoints_and_a_manifest_like_the_loops(world, ray, rule):
    a_spec = spec(rule, votes=6, train=4, kl_coefficient=0.01)
    out = world / rule.rule
    steps = adapt(world, out, a_spec)
    assert [step["step"] for step in steps] == [1, 2, 3, 4]
    assert all(step["rollouts"] == 18 for step in steps)
    assert {"engine/learning_rate", "engine/policy_loss"} <= steps[0].keys()
    kept = sorted(path.name for path in (out / "checkpoints").iterdir())
    assert kept == ["step000002", "step000004"]
    assert (out / "checkpoints/step000004/model.safetensors").is_file()
    assert read_json(out / "manifest.json")["stage"] == "adapt"


def test_a_run_that_is_told_to_stop_goes_on_after_its_last_save_and_draws_what_it_would_have_drawn(world, ray):
    a_spec, out = spec(votes=6, train=4), world / "stopped"
    process = started(world, out, a_spec)
    while not (out / "steps/step000003.json").exists():
        assert process.poll() is None, process.stdout.read()[-2000:]
        time.sleep(0.5)
    before = read_json(out / "steps/step000001.json")
    process.terminate()
    said, _ = process.communicate()
    assert process.returncode != 0
    assert "stopped by SIGTERM, saved after step" in said
    steps = adapt(world, out, a_spec)
    assert [step["step"] for step in steps] == [1, 2, 3, 4]
    assert {name: value for name, value in steps[0].items() if not name.startswith("engine/")} == before
    journal = read_json(out / "cost.json")
    assert journal["attempts"] == 2


@pytest.fixture
def judge(tmp_path):
    """A judge's server: a process that speaks the OpenAI protocol."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    script = Path(__file__).parents[2] / "rectifier/http_judge.py"
    process = subprocess.Popen([sys.executable, str(script), str(port), str(tmp_path / "requests.log")])
    form = JudgeForm(wording="math", style=PromptStyle(where="none"), revision=None, limits=JudgeLimits())
    home = ServerHome(url=f"http://127.0.0.1:{port}", served_model="judge")
    yield JudgeSpec(model="judge", form=form, home=home, engine="vllm", trained=False)
    process.kill()
    process.wait()


def test_the_cascade_asks_a_judges_server_and_rewards_what_it_accepts(world, ray, judge):
    save_bigram(world / "bigram", POLICY)
    a_spec, out = spec(Truer(), judge=judge, votes=8, train=8), world / "truer"
    steps = adapt(world, out, a_spec, "--judge", str(world / "tiny"), model="bigram")
    assert [step["step"] for step in steps] == [1, 2, 3, 4]
    assert all(step["unparsed_share"] == 0 for step in steps)
    assert sum(step["rule/judged"] for step in steps) > 0
    assert len((out / "judgements.jsonl").read_text().splitlines()) > 0
    decisions = [row for number in (1, 2, 3, 4) for row in read_jsonl(out / f"decisions/step{number:06d}.jsonl.gz")]
    assert any(not row["abstained"] for row in decisions)
    for row in decisions:
        assert [reward == 1 for reward in row["rewards"]] == [one == row["pseudo_label"] for one in row["answer_class"]]
