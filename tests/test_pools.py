import numpy as np
import pytest

from ttrlab.pools import PoolRow, from_json, read_pool, to_json, write_pool


def row(**changes):
    values = {
        "question_id": "q", "step": 3, "seed": 7, "texts": ("a", "b"), "answers": ("1", None), "truncated": (False, True),
        "tokens": (4, 5), "signals": {"mean_logprob": np.array([-0.1, -1 / 3]), "judge_score": np.array([np.nan, 4.0])},
    }  # fmt: skip
    return PoolRow(**{**values, **changes})


def test_a_row_survives_the_disk_to_the_bit(tmp_path):
    write_pool(tmp_path / "pool.jsonl.gz", [row()])
    (back,) = read_pool(tmp_path / "pool.jsonl.gz")
    assert back.signals["mean_logprob"].tobytes() == row().signals["mean_logprob"].tobytes()
    assert np.isnan(back.signals["judge_score"][0])
    assert (back.answers, back.texts, back.truncated, back.tokens) == (row().answers, row().texts, row().truncated, row().tokens)


def test_lists_of_different_length_are_refused_by_name():
    with pytest.raises(ValueError, match="tokens"):
        row(tokens=(1,))


def test_a_missing_key_and_another_version_are_named():
    value = to_json(row())
    del value["texts"]
    with pytest.raises(ValueError, match="texts"):
        from_json(value)
    with pytest.raises(ValueError, match="version 1"):
        from_json({**to_json(row()), "pool": 99})
