"""What fitted models show of themselves: the largest topics, and pictures in shades of grey."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from core.estimators.dlgm.dlgm_classifier import DlgmClassifier
from core.estimators.dlgm.dlgm_model import DLGM
from core.estimators.dlgm.network import first_weights, reconstructions
from core.estimators.lda.lda_model import LDA
from core.estimators.lda.online_lda import OnlineLda
from core.estimators.tables.curved_models import SVM
from core.tuning.event_lines import from_json, to_json
from core.tuning.events import ImagesDrawn, TopicsFound
from core.tuning.runs.fit_events import display_event, has_display

PIXELS = [f"pixel_{row}_{column}" for row in range(8) for column in range(8)]


def untrained(X, y):
    """A classifier with the weights that training starts from, for which no jax is needed."""
    model = DlgmClassifier(12, 5)
    model.n_features_in_ = X.shape[1]
    model.classes_ = np.unique(y)
    model.mean_, model.scale_ = X.mean(axis=0), np.maximum(1.0, X.std(axis=0))
    rng = np.random.default_rng(0)
    model.weights_ = first_weights(X.shape[1], len(model.classes_), 12, 5, rng)
    model.noise_ = rng.standard_normal((20, 17))
    return model


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return untrained(X, y), X, y


def planted(K, documents=400):
    """Documents of K topics with ten words each, topic k twice as frequent as topic k + 1."""
    rng = np.random.default_rng(0)
    sizes = 2.0 ** -np.arange(K)
    counts = np.zeros((documents, 10 * K))
    for row, k in zip(counts, rng.choice(K, documents, p=sizes / sizes.sum()), strict=True):
        row[10 * k : 10 * k + 10] = rng.multinomial(40, np.arange(1, 11) / 55)
    words = [f"topic{k}-word{w}" for k in range(K) for w in range(1, 11)]
    return counts, words


def test_planted_topics_are_shown_the_largest_and_the_likeliest_words_first():
    counts, words = planted(4)
    model = OnlineLda(6, alpha=0.05, eta=0.05, minibatch=100, passes=10, random_state=1)
    event = display_event(LDA, model.fit(counts), counts, np.zeros(400), 7, words)
    assert isinstance(event, TopicsFound)
    assert (event.number, event.count, event.documents) == (7, 6, 400)
    shares = [topic.share for topic in event.topics]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1.0, abs=1e-3)
    largest = event.topics[0]
    # Word w of a topic comes w/55 of the time, and topic 0 has 8/15 of all words.
    assert {word.partition("-")[0] for word in largest.words} == {"topic0"}
    assert largest.words[0] == "topic0-word10"
    assert largest.weights == sorted(largest.weights, reverse=True)
    assert largest.weights[0] == pytest.approx(10 / 55, abs=0.02)
    assert largest.share == pytest.approx(8 / 15, abs=0.08)
    many = OnlineLda(20, passes=1, random_state=0).fit(counts)
    event = display_event(LDA, many, counts[:0], np.zeros(0), 0, words)
    assert (event.count, len(event.topics)) == (20, 12)  # the largest
    assert all(len(topic.words) == len(topic.weights) == 10 for topic in event.topics)


def test_pictures_are_scaled_to_shades_of_grey_and_chosen_from_every_class(digits):
    model, X, y = digits
    event = display_event(DLGM, model, X, y, 3, PIXELS)
    assert isinstance(event, ImagesDrawn)
    assert (event.number, event.height, event.width) == (3, 8, 8)
    assert np.shape(event.samples) == np.shape(event.reconstructions) == (8, 64)
    assert event.labels == list("01234567")
    # The first picture of every class, whose grey goes from 0 to 16.
    first = [np.flatnonzero(y == label)[0] for label in range(8)]
    np.testing.assert_allclose(event.originals, X[first] / 16, atol=5e-4)
    seen = np.clip(reconstructions(model, X[first]) / 16, 0, 1)
    np.testing.assert_allclose(event.reconstructions, seen, atol=5e-4)
    assert from_json(to_json(event)) == event
    assert display_event(DLGM, model, X, y, 3, PIXELS) == event


def test_few_classes_give_several_pictures_each_and_constant_columns_are_drawn(digits):
    _, X, y = digits
    varied = X.std(axis=0) > 0
    names = [name for name, there in zip(PIXELS, varied, strict=True) if there]
    X, y = X[y < 3][:, varied], y[y < 3]
    event = display_event(DLGM, untrained(X, y), X, y, 0, names)
    assert event.labels == ["0", "1", "2", "0", "1", "2", "0", "1"]
    assert np.shape(event.originals) == (8, 64)
    first = [np.flatnonzero(y == label)[0] for label in range(3)]
    drawn = np.array(event.originals)[:3, varied]
    np.testing.assert_allclose(drawn, X[first] / 16, atol=5e-4)


def test_large_pictures_are_thinned_out():
    rng = np.random.default_rng(0)
    X, y = rng.random((20, 100 * 130)), np.arange(20) % 2
    names = [f"{row}x{column}" for row in range(100) for column in range(130)]
    event = display_event(DLGM, untrained(X, y), X, y, 0, names)
    assert (event.height, event.width) == (34, 44)  # every third
    assert np.shape(event.samples) == (8, 34 * 44)


def test_other_columns_and_other_models_show_nothing(digits):
    model, X, y = digits
    names = [f"blood {n % 7} {n}" for n in range(64)]
    assert display_event(DLGM, model, X, y, 0, names) is None
    assert display_event(DLGM, model, X[:0], y[:0], 0, PIXELS) is None
    assert display_event(SVM, object(), X, y, 0, PIXELS) is None
    assert has_display(DLGM, PIXELS)
    assert has_display(LDA, names)
    assert not has_display(DLGM, names)
    assert not has_display(SVM, PIXELS)
