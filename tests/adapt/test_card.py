import yaml

from tests.adapt.test_loop import spec
from ttrlab.adapt.card import model_card
from ttrlab.rewards import Oracle


def test_the_card_says_that_the_data_is_the_test_set_and_what_must_not_be_reported():
    card = model_card(spec().model_copy(update={"revision": "abc", "licence": "apache-2.0"}), "Org/Base", 10, 20)
    assert "Do not report this model on b as zero-shot" in card
    assert "the 5 questions of b, which is the test set itself, without their answers" in card
    assert "| base model | Org/Base at revision abc |" in card
    head = yaml.safe_load(card.split("---")[1])
    assert head == {"base_model": "Org/Base", "license": "apache-2.0", "tags": ["test-time-reinforcement-learning", "ttrlab"]}


def test_the_oracles_card_says_that_it_saw_gold():
    assert "**with their gold answers**" in model_card(spec(Oracle()), "m", 6, 6)


def test_an_unknown_licence_is_called_unknown():
    assert "license: unknown" in model_card(spec(), "m", 6, 6)
