"""The compiled 4-gram kernel equals scikit-learn's TF-IDF, for any text."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from ttrlab import signals
from ttrlab.signals.ngrams import is_space
from ttrlab.signals.similarity import tfidf_cosine
from ttrlab.types import Rollout

TOLERANCE = 1e-12


def reference(texts):
    """scikit-learn's own answer; it refuses an empty vocabulary, for which every cosine is 0 here."""
    try:
        vectors = TfidfVectorizer(analyzer="char", ngram_range=(4, 4)).fit_transform(texts)
    except ValueError:
        return np.zeros((len(texts), len(texts)))
    return (vectors @ vectors.T).toarray()


def assert_same(texts):
    assert np.abs(tfidf_cosine(texts) - reference(texts)).max() <= TOLERANCE


ALPHABET = st.sampled_from("ab AB\n\t  \u00a0\u2003éÉİıßΣσ中文😀0123\\{}")


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(ALPHABET, max_size=40) | st.text(max_size=20), min_size=1, max_size=8))
def test_any_texts_give_scikit_learns_cosine(texts):
    assert_same(texts)


@pytest.mark.parametrize(
    "texts",
    [
        ["", "abc", "abcd"],
        ["", ""],
        ["abcd" * 50] * 3,
        ["Case MATTERS not", "case matters NOT"],
        ["two  spaces", "two spaces", "two \n\t spaces", "two\nspaces"],
        ["İstanbul", "istanbul"],
        ["😀😀😀😀", "😀😀😀"],
        [f"common start of a text, then number {i * 7919}" for i in range(70)],
    ],
)
def test_hard_texts_give_scikit_learns_cosine(texts):
    assert_same(texts)


def test_long_realistic_texts_give_scikit_learns_cosine():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefghij0123"), rng.integers(1, 9))) for _ in range(300)]
    assert_same([" ".join(rng.choice(words, 400)) for _ in range(32)])


def test_white_space_is_what_the_regular_expression_of_scikit_learn_matches():
    every = "".join(map(chr, range(0x110000)))
    assert [c for c in range(0x110000) if is_space(c)] == [ord(c) for c in re.findall(r"\s", every)]


def test_a_lone_surrogate_in_a_text_is_just_a_character():
    assert tfidf_cosine(["ab\ud800cd", "ab\ud800cd"])[0, 1] == 1.0


def test_the_diagonal_and_equal_texts_are_exactly_one_and_the_matrix_symmetric():
    cosine = tfidf_cosine(["some text here", "another text", "some text here"])
    assert np.diagonal(cosine).tolist() == [1.0, 1.0, 1.0]
    assert cosine[0, 2] == 1.0
    assert np.array_equal(cosine, cosine.T)


def test_a_text_without_a_4_gram_is_like_nothing():
    assert not tfidf_cosine(["abc", "abcd"])[0].any()


def test_equal_texts_give_equal_bits_on_every_call():
    texts = [f"{i % 5} reasoning about {i} things" for i in range(40)]
    assert np.array_equal(tfidf_cosine(texts), tfidf_cosine(list(texts)))


def test_order_of_the_rollouts_permutes_rows_and_columns():
    texts = [f"{i % 5} reasoning about {i} things" for i in range(20)]
    order = np.random.default_rng(1).permutation(20)
    assert np.abs(tfidf_cosine([texts[i] for i in order]) - tfidf_cosine(texts)[np.ix_(order, order)]).max() < TOLERANCE


def test_reasoning_similarity_reads_the_texts_alone():
    rollouts = [Rollout("the same words"), Rollout("the same words", (1, 2))]
    assert signals.compute(["reasoning_similarity"], rollouts)["reasoning_similarity"].tolist() == [[1.0, 1.0], [1.0, 1.0]]
