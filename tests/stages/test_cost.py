import pandas as pd
import pytest

from ttrlab.files import read_json
from ttrlab.meter import metered
from ttrlab.stages.cost import COLUMNS, readable, rows_of

PLACE = {"model": "m", "benchmark": "b", "method": "core", "seed": 0}


@pytest.fixture
def table(tmp_path):
    with pytest.raises(RuntimeError), metered(tmp_path, "adapt", "x") as meter:
        meter.spent("update", 1, 7200.0, 3600.0, {"tokens": 5})
        raise RuntimeError("killed")
    with metered(tmp_path, "adapt", "x") as meter:
        meter.devices(["NVIDIA H100"] * 2)
        meter.spent("update", 1, 3600.0, 1800.0, {"tokens": 5})
    return pd.DataFrame(rows_of(read_json(tmp_path / "cost.json"), PLACE), columns=list(COLUMNS))


def test_device_hours_are_wall_clock_times_devices_and_discarded_work_stands_apart(table):
    update = table[table.phase == "update"].iloc[0]
    assert (update.wall_hours, update.cpu_hours, update.device_hours) == (1, 0.5, 2)
    assert (update.discarded_wall_hours, update.discarded_device_hours) == (2, 4)
    assert (update.devices, update.attempts, update.tokens) == ("NVIDIA H100", 2, 5)


def test_the_table_for_readers_adds_discarded_work_to_the_sum(table):
    (core, total) = readable(table[table.phase == "update"], 1.0).to_dict("records")
    assert core == {"method": "core", "update": "2.00", "discarded": "4.00", "all": "6.00"}
    assert total["all"] == "6.00"
