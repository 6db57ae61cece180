import pytest
from transformers import AutoTokenizer

from ttrlab.benchmarks.lab.corpus import batch
from ttrlab.benchmarks.lab.judging import judgement_batch
from ttrlab.config.catalogue import PromptStyle
from ttrlab.config.lab import REGIMES, LabModel
from ttrlab.engines.pretrain import (
    ARCHITECTURES,
    EOS,
    JUDGES_VOCABULARY,
    check,
    encoded,
    judges,
    new_model,
    pretrain,
    tokenizer,
    valid_judgements,
    vocabulary,
)
from ttrlab.engines.torch_policy import TorchPolicy
from ttrlab.files import hashes
from ttrlab.seeds import rng


def test_the_tokenizer_gives_every_text_of_the_corpus_back(tmp_path):
    tokenizer(JUDGES_VOCABULARY).save_pretrained(tmp_path)
    words = AutoTokenizer.from_pretrained(tmp_path)
    for prompt, response in batch(rng(0, "test"), REGIMES, 200):
        ids = words(prompt + response)["input_ids"]
        assert words.decode(ids, clean_up_tokenization_spaces=False) == prompt + response
        assert len(words(response)["input_ids"]) == 14


@pytest.mark.parametrize("architecture", sorted(ARCHITECTURES))
def test_a_model_folder_loads_with_the_tokenizer_that_the_model_was_trained_with(tmp_path, architecture):
    """By ``AutoTokenizer``, which gives some kinds of model a tokenizer of their own whatever the folder says."""
    model = LabModel(architecture=architecture, judgements=0.2)
    new_model(model).save_pretrained(tmp_path)
    tokenizer(vocabulary(model)).save_pretrained(tmp_path)
    words = AutoTokenizer.from_pretrained(tmp_path)
    for prompt, text in judgement_batch(rng(0, "test"), REGIMES, 50):
        ids = words(prompt + text)["input_ids"]
        assert ids == tokenizer(vocabulary(model))(prompt + text)["input_ids"]
        assert words.decode(ids, clean_up_tokenization_spaces=False) == prompt + text


def test_judgements_take_the_configured_share_of_the_steps_evenly():
    assert [judges(LabModel(judgements=0.25), step) for step in range(8)] == [False, False, False, True] * 2
    assert not any(judges(LabModel(), step) for step in range(400))


def test_the_loss_counts_the_response_and_its_end_and_wording_less():
    ids, weights = encoded([("sa: 27+35=", "therefore therefore therefore \n\n12\n\n62\n\n\\boxed{62}")], tokenizer(JUDGES_VOCABULARY))
    assert weights[0].tolist() == [0] * 7 + [0.25] * 3 + [1] * 12
    assert ids[0, -1] == EOS


def test_the_same_config_gives_the_same_bytes_and_a_model_short_of_training_is_refused(tmp_path):
    short = LabModel(steps=2, batch=8)
    found = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        with pytest.raises(ValueError, match=r"regime 'saturated': measured share of right answers 0\.\d\d, expected 0\.80"):
            pretrain(short, tmp_path / name)
        found.append(hashes(tmp_path / name))
    assert found[0] == found[1]
    assert "model.safetensors" in found[0]


def test_a_confidence_gap_that_points_the_wrong_way_is_refused():
    model = LabModel()
    measured = {name: {"right": r.right, "wrong": r.wrong, "confidence_gap": 0.3} for name, r in model.regimes.items()}
    with pytest.raises(ValueError, match="regime 'reversed': measured confidence gap"):
        check(model, measured)
    measured["reversed"]["confidence_gap"] = -0.3
    check(model, measured)


def test_a_model_that_was_to_write_judgements_and_does_not_is_refused(tmp_path):
    model = LabModel(judgements=0.2)
    new_model(model).save_pretrained(tmp_path)
    tokenizer(vocabulary(model)).save_pretrained(tmp_path)
    policy = TorchPolicy(str(tmp_path), None, PromptStyle(template="plain", where="none"), "integer")
    with pytest.raises(ValueError, match=r"measured share of valid judgements 0\.00, expected at least 0\.9"):
        valid_judgements(model, policy)
