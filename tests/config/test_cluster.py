import pytest
import yaml

from tests.workflow.world import ROOT
from ttrlab.config.cluster import RESOURCES, read_cluster

FILE = ROOT / "profiles/slurm/cluster.yaml"


@pytest.fixture
def table(tmp_path):
    def write(**changes):
        path = tmp_path / "cluster.yaml"
        path.write_text(yaml.safe_dump({**yaml.safe_load(FILE.read_text()), **changes}))
        return path

    return write


def test_the_first_row_that_a_model_does_not_exceed_counts():
    cluster = read_cluster(FILE)
    gpus = {parameters: cluster.need("adapt", "openrlhf", parameters).gpus for parameters in (0, 1_543_714_304, 8_190_735_360)}
    assert gpus == {0: 0, 1_543_714_304: 4, 8_190_735_360: 8}


def test_a_model_that_states_no_size_counts_as_the_table_says_and_one_beyond_the_table_is_refused():
    cluster = read_cluster(FILE)
    assert cluster.need("adapt", "openrlhf", None) == cluster.need("adapt", "openrlhf", 8_000_000_000)
    with pytest.raises(ValueError, match="no row for a model of 70 billion parameters; the largest says 16"):
        cluster.need("adapt", "openrlhf", 70_000_000_000)


def test_the_one_machine_engine_gets_one_gpu_at_most():
    assert read_cluster(FILE).need("adapt", "torch", 8_000_000_000).gpus == 1


def test_memory_and_time_grow_with_the_attempt():
    cluster = read_cluster(FILE)
    need = cluster.need("evaluate", "vllm", 8_000_000_000)
    first, second = (cluster.resources(need, attempt) for attempt in (1, 2))
    assert tuple(first) == RESOURCES
    assert (second["mem_mb"], second["runtime"]) == (2 * need.memory_mb, 2 * need.minutes)
    assert {name for name in RESOURCES if first[name] != second[name]} == {"mem_mb", "runtime"}


def test_later_attempts_grow_no_further_than_the_partitions_allow(table):
    cluster = read_cluster(table(limits={"minutes": 2000, "memory_mb": 800000}))
    need = cluster.need("adapt", "openrlhf", 8_000_000_000)
    assert [(asked["runtime"], asked["mem_mb"]) for asked in (cluster.resources(need, attempt) for attempt in (1, 2, 3))] == [
        (1440, 400000),
        (2000, 800000),
        (2000, 800000),
    ]


def test_several_nodes_are_asked_for_whole(table):
    cluster = read_cluster(table(gpu_model="h100"))
    large = cluster.resources(cluster.need("adapt", "openrlhf", 12_247_782_400), 1)
    assert (large["nodes"], large["gres"], large["gpu"], large["gpu_model"]) == (2, "gpu:h100:8", 0, "")
    small = cluster.resources(cluster.need("adapt", "openrlhf", 1_543_714_304), 1)
    assert (small["nodes"], small["gres"], small["gpu"], small["gpu_model"]) == (1, "", 4, "h100")


def test_the_account_is_the_tables_or_the_environments(table, monkeypatch):
    need = read_cluster(FILE).other
    monkeypatch.setenv("SBATCH_ACCOUNT", "mine")
    assert read_cluster(FILE).resources(need, 1)["slurm_account"] == "mine"
    assert read_cluster(table(account="group")).resources(need, 1)["slurm_account"] == "group"
    monkeypatch.delenv("SBATCH_ACCOUNT")
    assert read_cluster(FILE).resources(need, 1)["slurm_account"] == ""


def test_partitions_are_by_need(table):
    cluster = read_cluster(table(partitions={"cpu": "short", "gpu": "a100"}))
    assert cluster.partition(cluster.other) == "short"
    assert cluster.partition(cluster.need("evaluate", "vllm", 8_000_000_000)) == "a100"


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"gpus_per_node": 6}, "8 GPUs are no whole number of nodes of 6"),
        ({"sizes": []}, "sizes"),
        ({"limits": {"minutes": 600, "memory_mb": None}}, "limits: 1440 minutes and 128000 MB are asked for"),
        ({"partition": "gpu"}, "partition: Extra inputs are not permitted"),
    ],
)
def test_a_table_that_cannot_be_meant_is_refused_with_its_file(table, changes, message):
    with pytest.raises(ValueError, match=message) as error:
        read_cluster(table(**changes))
    assert "cluster.yaml" in str(error.value)
