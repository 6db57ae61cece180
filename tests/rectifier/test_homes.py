from typing import get_args

import numpy as np
import pytest
from judging import ScriptedPolicy

from ttrlab.config.catalogue import PromptStyle
from ttrlab.config.judge import JudgeConfig, JudgeLimits, ProcessHome
from ttrlab.config.specs import JudgeForm, JudgeSpec
from ttrlab.pools import PoolRow, write_pool
from ttrlab.rectifier.homes import open_judge
from ttrlab.rectifier.judge import JudgeItem
from ttrlab.rectifier.prompt import PROMPTS
from ttrlab.rectifier.server import ServerJudge
from ttrlab.rectifier.stored import read_judgements

ITEM = JudgeItem("1+1", "It is 2.", "2")
STYLE = PromptStyle(where="user")


def opened(tmp_path, load=None, home=None):
    form = JudgeForm(wording="math", style=STYLE, revision=None, limits=JudgeLimits())
    spec = JudgeSpec(model="m", form=form, home=home or ProcessHome(), engine="torch", trained=False)
    return open_judge(spec, "weights", load, {"q": "1+1"}, tmp_path / "judgements.jsonl")


def test_every_wording_that_a_configuration_may_name_exists():
    assert set(get_args(JudgeConfig.model_fields["prompt"].annotation)) == set(PROMPTS)


def test_a_judge_in_process_is_asked_without_the_answering_instruction_and_cached(tmp_path):
    styles = []

    def load(style):
        styles.append(style)
        return ScriptedPolicy(lambda prompt, seed, i: '{"reason": "r", "score": 8}'), len

    (found,) = opened(tmp_path, load).judge([ITEM])
    assert found.score == 8
    assert styles[0].where == "none"
    assert len(read_judgements(tmp_path / "judgements.jsonl")) == 1


def test_a_served_judge_is_cached_too(tmp_path):
    judge = opened(tmp_path, home={"home": "server", "url": "http://localhost:1", "served_model": "r"})
    assert isinstance(judge.inner, ServerJudge)
    assert judge.inner.style.where == "none"


def test_the_same_rectifier_has_the_same_identity_in_every_home(tmp_path):
    served = opened(tmp_path, home={"home": "server", "url": "http://localhost:1", "served_model": "r"})
    inside = opened(tmp_path, lambda style: (None, len))
    assert served.identity == inside.identity


def test_a_stored_judge_reads_the_pools_of_a_folder(tmp_path):
    signals = {"judge_score": np.array([3.0]), "judge_fits": np.array([1.0])}
    write_pool(tmp_path / "pools" / "step000001.jsonl.gz", [PoolRow("q", 1, 0, ("It is 2.",), ("2",), (False,), (4,), signals)])
    judge = opened(tmp_path, home={"home": "stored", "path": str(tmp_path / "pools")})
    assert judge.judge([ITEM])[0].score == 3
    with pytest.raises(FileNotFoundError, match="neither a pool file nor a folder"):
        opened(tmp_path, home={"home": "stored", "path": str(tmp_path / "nothing")})
