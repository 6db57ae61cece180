import pytest

from tests.workflow.world import ROOT
from ttrlab.cli import build_parser, dispatch
from ttrlab.config.cluster import read_cluster
from ttrlab.engines import Accelerator
from ttrlab.stages import diagnosis
from ttrlab.stages.diagnosis import GIB, Finding
from ttrlab.stages.diagnosis_slurm import memory_of_jobs, partitions, slurm
from ttrlab.stages.doctor import rendered

CLUSTER = read_cluster(ROOT / "profiles/slurm/cluster.yaml")
EIGHT = CLUSTER.need("adapt", "openrlhf", 8_000_000_000)
NODE = ["gpu", "gpu:h100:8(S:0-1)", "64+", "1000000+", "3-00:00:00", "up", "4"]


def states(findings):
    return [one.state for one in findings]


def test_an_old_python_is_refused_and_told_what_to_do():
    assert diagnosis.python((3, 11)).state == "ok"
    old = diagnosis.python((3, 9))
    assert (old.state, "3.9" in old.found, "3.11" in old.mend) == ("wrong", True, True)


def test_missing_and_other_versions_are_named_and_a_local_builds_suffix_is_no_difference(tmp_path):
    lock = tmp_path / "x.lock"
    lock.write_text("# made by hand\ntorch==2.13.0\nray[default]==2.55.0\nnumpy==2.0.0  # why\nvllm==0.29.0\n")
    have = {"torch": "2.13.0+cu129", "ray": "2.55.0", "numpy": "1.26.4", "vllm": None}
    found = diagnosis.packages(lock, "make setup", have.__getitem__)
    assert found.state == "wrong"
    assert found.found == f"not as in {lock}: missing: vllm; other versions: numpy 1.26.4 (lock: 2.0.0)"
    assert found.mend == "make setup"
    assert diagnosis.packages(lock, "", {**have, "numpy": "2.0.0", "vllm": "0.29.0"}.__getitem__).state == "ok"


def test_of_many_missing_packages_some_are_named_and_the_rest_counted(tmp_path):
    (tmp_path / "x.lock").write_text("".join(f"p{number:02}==1\n" for number in range(12)))
    found = diagnosis.packages(tmp_path / "x.lock", "", lambda name: None).found
    assert found.endswith("missing: p00, p01, p02, p03, p04, p05, p06, p07, and 4 more")


def test_a_lock_that_pins_nothing_is_refused_by_its_line(tmp_path):
    (tmp_path / "x.lock").write_text("numpy>=2\n")
    with pytest.raises(ValueError, match="'numpy>=2' pins no version"):
        diagnosis.locked(tmp_path / "x.lock")


@pytest.mark.parametrize(
    "total, free, least, state, words",
    [
        (80, 79, 60, "ok", "2 x H100, 80 GiB, 79 GiB free, CUDA 12.9"),
        (80, 79, 100, "wrong", "80 GiB"),
        (80, 10, 60, "wrong", "10 GiB free"),
    ],
)
def test_gpus_are_held_against_what_the_largest_model_needs(total, free, least, state, words):
    device = Accelerator("H100", total * GIB, free * GIB)
    found = diagnosis.devices(least, lambda: ("12.9", [device, Accelerator("H100", 141 * GIB, 141 * GIB)]))
    assert found.state == state
    assert words in found.found
    assert bool(found.mend) == (state == "wrong")


def test_a_driver_that_torch_does_not_see_is_told_apart_from_a_machine_without_gpu(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert diagnosis.devices(0, lambda: (None, [])).state == "ok"
    assert diagnosis.devices(10, lambda: (None, [])).state == "note"
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    assert "torch is built for the CPU" in diagnosis.devices(0, lambda: (None, [])).found
    assert "torch (CUDA 12.9) sees no device" in diagnosis.devices(0, lambda: ("12.9", [])).found


def test_a_folder_is_tried_by_writing_and_locking_where_it_would_be_made(tmp_path):
    found = diagnosis.writing("results", tmp_path / "not/yet")
    assert (found.state, str(tmp_path) in found.found) == ("ok", True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error, words", [(PermissionError(13, "no"), "no permission"), (OSError(37, "No locks available"), "flock")])
def test_a_folder_that_cannot_be_written_or_locked_is_named(tmp_path, monkeypatch, error, words):
    def fail(*arguments):
        raise error

    monkeypatch.setattr(diagnosis.fcntl, "flock", fail)
    found = diagnosis.writing("results", tmp_path)
    assert found.state == "wrong"
    assert words in found.found + found.mend


def test_disk_is_held_against_the_studys_need(tmp_path):
    assert diagnosis.disk(tmp_path, 1.0).state == "ok"
    assert diagnosis.disk(tmp_path, None).state == "note"
    full = diagnosis.disk(tmp_path, 2.0**60)
    assert (full.state, "1073741824 GiB needed" in full.found) == ("wrong", True)


def test_repositories_that_cannot_be_read_are_named_and_an_unreachable_hub_ends_the_asking():
    asked = []

    def ask(name, kind):
        asked.append(name)
        if name == "far":
            raise ConnectionError("no route")
        return "its licence has to be accepted first" if name == "gated" else None

    found = diagnosis.hub({"open": "model", "gated": "dataset", "far": "model", "later": "model"}, ask, offline=False)
    assert asked == ["open", "gated", "far"]
    assert [one.found for one in found] == ["dataset gated: its licence has to be accepted first", "out of reach: no route"]
    assert "huggingface.co/datasets/gated" in found[0].mend
    assert states(diagnosis.hub({"open": "model"}, ask, offline=False)) == ["ok"]
    assert states(diagnosis.hub({"open": "model"}, ask, offline=True)) == ["note"]
    assert states(diagnosis.hub({}, ask, offline=False)) == ["ok"]


@pytest.mark.parametrize(
    "column, value, words",
    [
        (1, "(null)", "no node with 8 GPUs"),
        (2, "16", "no node with 32 processors"),
        (3, "64000", "the largest has 64000 MB"),
        (4, "1-00:00:00", "the longest limit is 1440"),
    ],
)
def test_what_no_node_can_give_is_named(column, value, words):
    assert states(partitions(CLUSTER, {EIGHT}, [NODE])) == ["ok"]
    found = partitions(CLUSTER, {EIGHT}, [[*NODE[:column], value, *NODE[column + 1 :]]])
    assert states(found) == ["ok", "wrong"]
    assert words in found[1].found
    assert "cluster.yaml" in found[1].mend


def test_a_partition_that_is_not_there_is_named_with_those_that_are():
    named = CLUSTER.model_copy(update={"partitions": CLUSTER.partitions.model_copy(update={"gpu": "a100"})})
    found = partitions(named, {EIGHT}, [NODE])
    assert found[1].found == "no partition 'a100'"
    assert "some of gpu" in found[1].mend


def test_a_cluster_that_forgets_jobs_too_soon_is_named():
    assert memory_of_jobs("X = 1\nMinJobAge               = 300 sec\n").state == "ok"
    short = memory_of_jobs("MinJobAge               = 30 sec\n")
    assert (short.state, "sacct" in short.mend) == ("wrong", True)


def test_no_sbatch_is_a_note_and_a_silent_controller_is_wrong(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert states(slurm(CLUSTER, {EIGHT})) == ["note"]
    for name, script in {"sbatch": "exit 0", "sinfo": "echo 'Unable to contact slurm controller' >&2; exit 1"}.items():
        (tmp_path / name).write_text(f"#!{'/bin/sh'}\n{script}\n")
        (tmp_path / name).chmod(0o755)
    (found,) = slurm(CLUSTER, {EIGHT})
    assert (found.state, found.found) == ("wrong", "sinfo failed: Unable to contact slurm controller")


def test_the_text_says_what_is_wrong_and_below_it_how_to_mend_it():
    lines = rendered([Finding("ok", "Python", "3.11"), Finding("wrong", "disk", "1 GiB free", "free some")])
    assert lines == ["ok    Python     3.11", "wrong disk       1 GiB free", "                 -> free some"]


def test_the_command_ends_well_on_a_right_machine_and_names_its_faults_on_a_wrong_one(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PATH", str(tmp_path))
    fitting, other = tmp_path / "fitting.lock", tmp_path / "other.lock"
    fitting.write_text("numpy==" + diagnosis.metadata.version("numpy") + "\n")
    other.write_text("numpy==0.0.1\n")
    words = ["doctor", "--config", "config/demo.yaml", "--lock"]
    assert "nothing is wrong for study 'demo'" in dispatch(build_parser().parse_args([*words, str(fitting)]))
    with pytest.raises(RuntimeError, match="1 of 8 checks for study 'demo' found something wrong") as error:
        dispatch(build_parser().parse_args([*words, str(other)]))
    assert f"-> pip install -r {other}" in str(error.value)
