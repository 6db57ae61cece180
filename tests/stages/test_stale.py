import pytest

from ttrlab.stages.stale import stale_command


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere: no such folder of results"):
        stale_command(tmp_path / "nowhere")
