"""How alike the reasoning of two roll-outs is: cosine of character 4-gram TF-IDF vectors, fitted on one question's roll-outs."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ttrlab.signals.base import Signal
from ttrlab.types import FloatArray, Rollout


def reasoning_similarity(rollouts: Sequence[Rollout]) -> FloatArray:
    """(n, n) cos(h_i, h_j) in [0, 1] of the roll-outs' texts (CoRE, arXiv:2608.09324; see ``tfidf_cosine``)."""
    return tfidf_cosine([rollout.text for rollout in rollouts])


def tfidf_cosine(texts: Sequence[str]) -> FloatArray:
    """(n, n) cosine of character 4-gram TF-IDF vectors fitted on these n texts alone; the diagonal is exactly 1.

    Equals scikit-learn's ``TfidfVectorizer(analyzer="char", ngram_range=(4, 4))`` to 1e-12: texts are lower-cased, a run of two or more
    white-space characters becomes one space, h_ig = tf_ig (ln((1 + n) / (1 + df_g)) + 1), and rows are L2-normalised. A text shorter than
    four characters has no 4-gram: its row and column are 0, its diagonal too.
    """
    from ttrlab.signals.ngrams import gram_products  # numba loads when the first matrix is asked for, not with the package

    lowered = [text.lower() for text in texts]
    codes = np.frombuffer("".join(lowered).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    products = gram_products(codes, np.cumsum([0, *map(len, lowered)]))
    norms = np.sqrt(np.multiply.outer(products.diagonal(), products.diagonal()))
    return np.divide(products, norms, out=np.zeros_like(products), where=norms > 0)


def embedding_similarity(embed: Callable[[Sequence[str]], NDArray[np.floating]]) -> Signal:
    """A signal from a callback: ``embed`` maps n texts to (n, d) vectors (an embedding model, hidden states); (n, n) cosine.

    A zero vector has cosine 0 with every text. ValueError when the callback returns another number of rows or a non-finite number.
    """

    def similarity(rollouts: Sequence[Rollout]) -> FloatArray:
        vectors = np.asarray(embed([rollout.text for rollout in rollouts]), dtype=np.float64)
        if vectors.ndim != 2 or vectors.shape[0] != len(rollouts) or not np.isfinite(vectors).all():
            raise ValueError(f"embed must return ({len(rollouts)}, d) finite numbers, got shape {vectors.shape}")
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
        return np.clip(unit @ unit.T, -1.0, 1.0)

    return Signal(requires=(), function=similarity, pairwise=True)
