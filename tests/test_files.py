import multiprocessing
import os

import pytest

from ttrlab import files


def test_a_failed_write_leaves_the_old_file_and_no_rubbish(tmp_path):
    path = tmp_path / "a.json"
    files.write_json(path, {"x": 1})
    with pytest.raises(RuntimeError), files.atomic(path) as handle:
        handle.write(b"half")
        raise RuntimeError
    assert files.read_json(path) == {"x": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def test_nan_is_refused(tmp_path):
    with pytest.raises(ValueError, match="JSON compliant"):
        files.write_json(tmp_path / "a.json", float("nan"))


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz"])
def test_equal_rows_give_equal_bytes_and_come_back(tmp_path, name):
    rows = [{"b": 1, "a": "é\u2028"}, [0.1, None]]
    first, second = tmp_path / "1" / name, tmp_path / "2" / name
    files.write_jsonl(first, rows)
    files.write_jsonl(second, iter(rows))
    assert first.read_bytes() == second.read_bytes()
    assert list(files.read_jsonl(first)) == rows


def test_a_broken_row_is_named_by_file_and_line(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n{"a": \n')
    with pytest.raises(ValueError, match=r"rows\.jsonl, line 2"):
        list(files.read_jsonl(path))


def test_a_truncated_gzip_is_named(tmp_path):
    path = tmp_path / "rows.jsonl.gz"
    files.write_jsonl(path, [{"a": i} for i in range(1000)])
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match=r"rows\.jsonl\.gz"):
        list(files.read_jsonl(path))


def test_a_folder_is_whole_only_while_its_bytes_are_those_that_were_written(tmp_path):
    folder = tmp_path / "state"
    with files.atomic_folder(folder) as target:
        (target / "weights").write_bytes(b"123")
    assert files.is_whole(folder)
    (folder / "weights").write_bytes(b"124")
    assert not files.is_whole(folder)
    assert not files.is_whole(tmp_path / "absent")


def test_a_folder_that_failed_half_way_does_not_appear(tmp_path):
    with pytest.raises(RuntimeError), files.atomic_folder(tmp_path / "state") as target:
        (target / "weights").write_bytes(b"123")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def _hold(path, ready, release):
    with files.exclusive(path):
        ready.set()
        release.wait(30)


def test_two_runs_cannot_work_in_one_folder_and_a_dead_owner_holds_nothing(tmp_path):
    context = multiprocessing.get_context("spawn")
    ready, release = context.Event(), context.Event()
    owner = context.Process(target=_hold, args=(tmp_path / "lock", ready, release))
    owner.start()
    assert ready.wait(30)
    with pytest.raises(RuntimeError, match=f"process {owner.pid}"), files.exclusive(tmp_path / "lock"):
        pass
    os.kill(owner.pid, 9)
    owner.join()
    with files.exclusive(tmp_path / "lock"):
        pass
