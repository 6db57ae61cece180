import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttrlab.adapt.schedule import batch, checkpoint_steps, steps_per_episode, total_steps, total_updates
from ttrlab.config.settings import Training


def training(**settings):
    return Training.model_validate({"votes": 4, "train": 4, **settings})


@given(rows=st.integers(1, 60), size=st.integers(1, 16), policy=st.sampled_from(["short", "drop", "wrap"]), seed=st.integers(0, 5))
def test_an_episode_sees_every_question_once_but_for_what_the_policy_drops_or_repeats(rows, size, policy, seed):
    settings = training(batch=size, last_batch=policy, episodes=1)
    seen = [row for step in range(1, steps_per_episode(rows, settings) + 1) for row in batch(rows, settings, seed, step)]
    if policy == "short":
        assert sorted(seen) == list(range(rows))
    elif policy == "drop":
        assert len(seen) == len(set(seen)) == rows - rows % size
    else:
        assert len(seen) % size == 0
        assert set(seen) == set(range(rows))


def test_updates_count_short_batches_minibatches_and_epochs():
    # 10 rows in batches of 4: 4, 4, 2; minibatches of 2: 2 + 2 + 1 updates, two epochs each, three episodes
    settings = training(batch=4, mini_batch=2, epochs=2, episodes=3)
    assert total_steps(10, settings) == 9
    assert total_updates(10, settings) == 3 * 2 * 5


def test_updates_of_a_run_cut_within_an_episode():
    settings = training(batch=4, mini_batch=2, episodes=3, updates=5)
    assert total_steps(10, settings) == 5
    assert total_updates(10, settings) == 5 + 4


def test_the_endpoint_is_always_a_checkpoint():
    assert checkpoint_steps(8, training(batch=8, episodes=25, checkpoint_every=10)) == (10, 20, 25)
    assert checkpoint_steps(8, training(batch=8, episodes=3, checkpoint_every=10)) == (3,)


@pytest.mark.parametrize("seed", [0, 1])
def test_order_depends_on_seed_and_episode_only(seed):
    settings = training(batch=4, episodes=2)
    assert batch(8, settings, seed, 1) == batch(8, settings, seed, 1)
    assert batch(8, settings, 0, 1) != batch(8, settings, 1, 1)
