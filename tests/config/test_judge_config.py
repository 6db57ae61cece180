import pytest
from pydantic import ValidationError

from ttrlab.config.judge import JudgeConfig, JudgeLimits, Rectifier, RectifierTraining

SOURCE = {"benchmark": "math500-fit", "calibration": "math500-calibration"}


def test_the_defaults_are_those_of_the_papers_table_5():
    training = RectifierTraining()
    settings = training.settings
    assert (training.sizes, training.temperature, training.updates) == ((8, 16, 32), 1.0, 150)
    assert (settings.learning_rate, settings.kl_coefficient, settings.batch, settings.clip_low, settings.clip_high) == (
        5e-6,
        0.01,
        16,
        0.2,
        0.2,
    )
    assert (settings.lora.rank, settings.lora.alpha, settings.weight_decay, settings.updates) == (64, 128, 0.01, 150)
    limits = JudgeLimits()
    assert (limits.input_tokens, limits.output_tokens, limits.context_tokens) == (4096, 4096, 8192)
    assert Rectifier(source=SOURCE).source.alphas == (1, 3, 3, 1)


def test_the_stable_1_7b_rectifier_is_an_override():
    training = RectifierTraining(training={"learning_rate": 1e-6, "warmup_steps": 10, "kl_coefficient": 0.02})
    assert (training.settings.learning_rate, training.settings.warmup_steps, training.settings.kl_coefficient) == (1e-6, 10, 0.02)
    assert training.settings.batch == 16


def test_a_judge_without_a_rectifier_is_untrained():
    assert not JudgeConfig(model="qwen3-4b").trained
    assert JudgeConfig(model="qwen3-4b", rectifier={"source": SOURCE}).trained


def test_the_home_is_the_process_unless_said_otherwise():
    assert JudgeConfig(model="m").home.home == "process"
    served = JudgeConfig(model="m", home={"home": "server", "url": "http://node7:8000", "served_model": "rectifier"})
    assert served.home.concurrency == 64
    assert JudgeConfig(model="m", home={"home": "stored", "path": "judgements.jsonl"}).home.path == "judgements.jsonl"


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: JudgeLimits(output_tokens=8000), "at most context_tokens, got 4096 \\+ 8000 > 8192"),
        (lambda: RectifierTraining(expansion=(32, 16)), "expansion must grow from judgements=8"),
        (lambda: RectifierTraining(expansion=(8, 16)), "expansion must grow"),
        (lambda: RectifierTraining(training={"updates": 9}), "updates stands beside training"),
        (lambda: RectifierTraining(training={"learning_rates": 9}), "learning_rates"),
        (lambda: JudgeConfig(model="m", home={"home": "server", "url": "http://x:1/v1", "served_model": "r"}), "url"),
        (lambda: JudgeConfig(model="m", prompt="free"), "prompt"),
    ],
)
def test_what_cannot_be_meant_is_refused(make, message):
    with pytest.raises(ValidationError, match=message):
        make()
