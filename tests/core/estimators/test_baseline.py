"""The baseline of every task against counts made by hand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from core.estimators.baseline import MostFrequentLabel, NoPairs, WordShares, baseline_pipeline
from core.estimators.lda.fitted_topics import HALVING_SEED, split_halves


def test_classes_get_their_shares_and_the_most_frequent_is_said():
    X, y = np.zeros((10, 2)), np.array(["a"] * 3 + ["b"] * 7)
    model = baseline_pipeline("binary", "passthrough").fit(X, y)
    assert model.predict(X[:2]).tolist() == ["b", "b"]
    assert model.predict_proba(X[:1]).tolist() == [[0.3, 0.7]]


def test_numbers_get_their_mean():
    model = baseline_pipeline("regression", "passthrough").fit(np.zeros((3, 1)), [1.0, 2.0, 9.0])
    assert model.predict(np.ones((1, 1))) == pytest.approx([4.0])


TOKENS = pd.DataFrame(
    {
        "sequence": ["s1"] * 4 + ["s2"] * 4,
        "noise": list("xyxyxyxy"),
        "word": ["the", "dog", "the", "dog", "the", "dog", "runs", "the"],
        "number": [str(i) for i in range(8)],  # tells every training label, and nothing
    }
)
LABELS = np.array(["D", "N", "D", "N", "D", "V", "V", "D"])


def test_tokens_get_the_most_frequent_label_of_their_word():
    model = MostFrequentLabel().fit(TOKENS, LABELS)
    assert TOKENS.columns[model.column_] == "word"
    asked = pd.DataFrame({"sequence": "s9", "noise": "x", "word": ["the", "dog", "cat"], "n": "0"})
    assert model.predict(asked).tolist() == ["D", "N", "D"]
    prior = np.array([4, 2, 2]) / 8
    expected = [(np.array([4, 0, 0]) + prior) / 5, (np.array([0, 2, 1]) + prior) / 4, prior]
    assert model.predict_proba(asked) == pytest.approx(np.array(expected))
    losses = model.log_losses(asked, np.array(["D", "V", "unheard of"]))
    assert losses[:2] == pytest.approx([-math.log(4.5 / 5), -math.log(1.25 / 4)])
    assert losses[2] == pytest.approx(15 * math.log(10))


def test_molecules_get_no_pairs_and_equal_chances():
    """GAAAC has the open structure and the one pair of its ends, as its only two."""
    X = pd.DataFrame({"letters": ["GAAAC", "GAAAC"]})
    model = NoPairs().fit(X, ["(...)", "....."])
    assert model.predict(X).tolist() == [".....", "....."]
    counts = model.pair_counts(X, ["(...)", "....."])
    assert counts.shape == (2, 17, 3)
    assert counts[:, :, :2].sum() == 0
    assert counts[:, :, 2].tolist() == [[1] * 17, [0] * 17]
    assert np.isfinite(model.log_losses(X, ["(...)", "....."])).all()


def test_words_get_their_shares():
    X = np.array([[3, 0, 1], [1, 0, 0]])
    model = WordShares().fit(X)
    shares = np.array([5, 1, 2]) / 8
    assert np.exp(model.log_shares_) == pytest.approx(shares)
    new = sparse.csr_matrix([[2, 2, 0], [0, 0, 4], [1, 0, 0]])
    held = split_halves(new, HALVING_SEED)[1].toarray()
    expected = np.stack([held @ np.log(shares), held.sum(axis=1)], axis=1)
    assert model.completion(new) == pytest.approx(expected)
