from ttrlab.seeds import rng, stream


def test_the_same_names_give_the_same_stream_and_others_another():
    assert stream(0, "order", 1) == stream(0, "order", 1)
    assert len({stream(0, "a"), stream(1, "a"), stream(0, "b"), stream(0, "a", 0), stream(0, "a", "")}) == 5


def test_names_are_not_joined_ambiguously():
    assert stream(0, "ab", "c") != stream(0, "a", "bc")


def test_a_stream_is_pinned_so_that_results_can_be_repeated_years_later():
    assert stream(0, "order", 0) == 5531984274973616623
    assert rng(0, "order", 0).permutation(8).tolist() == [2, 0, 7, 6, 4, 5, 3, 1]
