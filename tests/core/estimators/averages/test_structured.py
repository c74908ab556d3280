"""Averages of taggers and of folders, against sums over all labelings and structures."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from core.errors import UnusableError
from core.estimators.averages.table_average import average_models
from core.estimators.structured.crf_tagger import CrfTagger
from core.estimators.structured.rna_folder import RnaFolder

WEIGHTS = (0.6, 0.3, 0.1)
TOKENS = pd.DataFrame(
    {
        "sequence": ["a", "a", "a", "b", "c", "c", "d", "d", "d", "d"],
        "word": ["x", "y", "x", "z", "y", "z", "z", "x", "y", "y"],
    }
)
TAGS = np.array(list("NVNNVNVNVN"))
MOLECULES = pd.DataFrame({"letters": ["GGGAAACCC", "GCGAAAGC", "AUGCAUGCAU"]})
STRUCTURES = ["(((...)))", "((....))", "(((....)))"]


def _taggers(rows=slice(None)):
    X, y = TOKENS.iloc[rows], TAGS[rows]
    return [
        (f"trial {n}", CrfTagger(C, "sequence").fit(X, y)) for n, C in enumerate((0.05, 0.5, 5.0))
    ]


def _p_of(tagger: CrfTagger, X: pd.DataFrame) -> dict[tuple[str, ...], float]:
    """P(labels) of every labeling of one sequence, from the model's own whole-sequence losses."""
    every = itertools.product(tagger.classes_, repeat=len(X))
    return {y: float(np.exp(-tagger.log_losses(X, np.array(y)).sum())) for y in every}


@pytest.mark.parametrize("name", ["a", "b", "d"])
def test_sequences_are_averaged_as_wholes(name):
    members = _taggers()
    average = average_models("sequence", members, WEIGHTS, ("N", "V"))
    X = TOKENS[TOKENS.sequence == name]
    mean: dict[tuple[str, ...], float] = {}
    for w, (_, tagger) in zip(WEIGHTS, members, strict=True):
        for labels, p in _p_of(tagger, X).items():
            mean[labels] = mean.get(labels, 0.0) + w * p
    assert sum(mean.values()) == pytest.approx(1.0, abs=1e-12)
    for labels, p in mean.items():
        losses = average.log_losses(X, np.array(labels))
        np.testing.assert_allclose(losses, -np.log(p) / len(X), rtol=1e-9)
    marginals = [
        [sum(p for labels, p in mean.items() if labels[t] == label) for label in "NV"]
        for t in range(len(X))
    ]
    np.testing.assert_allclose(average.predict_proba(X), marginals, atol=1e-12)
    expected = average.classes_[np.argmax(marginals, axis=1)]
    np.testing.assert_array_equal(average.predict(X), expected)


def test_one_tagger_alone_is_itself():
    (member,) = _taggers()[:1]
    average = average_models("sequence", [member], [2.0], ("N", "V"))
    y = np.where(np.arange(10) == 4, "unknown", TAGS)
    np.testing.assert_allclose(average.log_losses(TOKENS, y), member[1].log_losses(TOKENS, y))
    np.testing.assert_array_equal(average.predict(TOKENS), member[1].predict(TOKENS))
    assert average.decoding == "posterior"


def test_a_label_that_begins_like_a_class_is_an_unknown_one():
    # An array of short texts would cut it down to the class.
    _, tagger = _taggers()[0]
    y = np.where(np.arange(10) == 4, "Nx", TAGS)
    assert np.isneginf(tagger.log_likelihoods(TOKENS, y)).tolist() == [False, False, True, False]


def test_a_tagger_that_never_saw_a_label_is_refused():
    with pytest.raises(UnusableError, match='never saw the class "Q"'):
        average_models("sequence", _taggers(), WEIGHTS, ("N", "Q", "V"))


def _folders():
    return [
        (f"trial {n}", RnaFolder(C).fit(MOLECULES, STRUCTURES))
        for n, C in enumerate((0.1, 1.0, 10.0))
    ]


def test_base_pairs_are_the_mean_over_folders():
    members = _folders()
    average = average_models("structure", members, WEIGHTS, ())
    of_members = [folder.pair_probabilities(MOLECULES) for _, folder in members]
    for k, P in enumerate(average.pair_probabilities(MOLECULES)):
        by_hand = sum(w * Ps[k] for w, Ps in zip(WEIGHTS, of_members, strict=True))
        np.testing.assert_allclose(P, by_hand, atol=1e-15)
    losses = np.array([folder.log_losses(MOLECULES, STRUCTURES) for _, folder in members])
    by_hand = -np.log(np.array(WEIGHTS) @ np.exp(-losses))
    np.testing.assert_allclose(average.log_losses(MOLECULES, STRUCTURES), by_hand, rtol=1e-12)


@pytest.mark.parametrize("task", ["sequence", "structure"])
def test_pickled_cloned_and_fitted_again(task):
    if task == "sequence":
        average, X, y = average_models(task, _taggers(), WEIGHTS, ("N", "V")), TOKENS, TAGS
    else:
        average, X, y = average_models(task, _folders(), WEIGHTS, ()), MOLECULES, STRUCTURES
    again = pickle.loads(pickle.dumps(average))
    np.testing.assert_array_equal(again.log_losses(X, y), average.log_losses(X, y))
    anew = clone(average)
    assert not hasattr(anew, "members_")
    np.testing.assert_allclose(anew.fit(X, y).log_losses(X, y), average.log_losses(X, y), atol=1e-5)
