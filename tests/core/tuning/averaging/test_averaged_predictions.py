"""What the average of several models says about rows, worked out by hand."""

import math

import numpy as np
import pytest

from core.tuning.averaging.averaged_predictions import (
    average_predictions,
    concatenate_predictions,
    is_averageable,
    log_densities,
    member_disagreement,
)
from core.tuning.scores.metric import Predictions

QUARTER = np.array([0.75, 0.25])


def classes(*rows):
    p = np.array(rows)
    return Predictions(np.argmax(p, axis=1), p, p)


def test_probabilities_are_averaged_and_the_largest_mean_names_the_class():
    one, other = classes([0.6, 0.4], [0.1, 0.9]), classes([0.0, 1.0], [0.2, 0.8])
    mean = average_predictions([one, other], QUARTER)
    np.testing.assert_allclose(mean.probabilities, [[0.45, 0.55], [0.125, 0.875]])
    assert mean.labels.tolist() == [1, 1]  # the first member alone said 0


def test_numbers_are_averaged():
    members = [Predictions(np.array(labels)) for labels in ([1.0, 4.0], [3.0, 0.0])]
    np.testing.assert_allclose(average_predictions(members, QUARTER).labels, [1.5, 3.0])
    apart = member_disagreement(members, QUARTER)
    np.testing.assert_allclose(apart, [math.sqrt(0.75 * 0.25 + 0.25 * 2.25), math.sqrt(3.0)])


def test_densities_of_documents_are_averaged_not_their_logarithms():
    def said(*densities):
        return Predictions(np.zeros(2), documents=np.array([[math.log(p), 7.0] for p in densities]))

    mean = average_predictions([said(0.2, 1e-300), said(0.4, 1e-3)], QUARTER)
    np.testing.assert_allclose(np.exp(mean.documents[:, 0]), [0.25, 0.25e-3])
    np.testing.assert_allclose(mean.documents[:, 1], 7.0)


def test_a_sequence_has_one_density_which_its_tokens_share():
    def said(*token_losses):
        p = np.full((5, 2), 0.5)
        whole = np.array([[0, 0], [0, 0], [0, 1], [0, 1], [0, 1]])
        return Predictions(np.zeros(5, int), p, p, np.array(token_losses), whole)

    mean = average_predictions([said(1, 1, 2, 2, 2), said(3, 0, 0, 0, 0)], np.array([0.5, 0.5]))
    first = -math.log((math.exp(-2) + math.exp(-3)) / 2)
    second = -math.log((math.exp(-6) + 1) / 2)
    np.testing.assert_allclose(mean.losses, [first / 2] * 2 + [second / 3] * 3)


def test_log_densities_of_classes_and_of_numbers():
    y = np.array([0, 1, -1])
    logs = log_densities(y, [classes([0.6, 0.4], [0.1, 0.9], [0.5, 0.5])])
    np.testing.assert_allclose(logs[:2, 0], np.log([0.6, 0.9]))
    assert logs[2, 0] == pytest.approx(math.log(1e-12))  # nobody knows that class
    numbers = log_densities(np.array([0.0, 0.0]), [Predictions(np.array([1.0, -3.0]))])
    variance = (1 + 9) / 2
    by_hand = [-0.5 * math.log(2 * math.pi * variance) - e / (2 * variance) for e in (1, 9)]
    np.testing.assert_allclose(numbers[:, 0], by_hand)


def test_lots_are_joined_and_their_sequences_stay_apart():
    def said(labels, sequences):
        p = np.full((len(labels), 2), 0.5)
        return Predictions(np.array(labels), p, p, whole=np.array([labels, sequences]).T)

    whole = concatenate_predictions([said([0, 1], [0, 1]), said([1, 1], [0, 0])])
    assert whole.labels.tolist() == [0, 1, 1, 1]
    assert whole.whole.tolist() == [[0, 0], [1, 1], [1, 2], [1, 2]]
    assert whole.losses is None


def test_what_is_no_number_cannot_be_averaged():
    assert is_averageable(classes([0.5, 0.5]))
    assert not is_averageable(classes([math.nan, 0.5]))
    assert not is_averageable(Predictions(np.array([1.0, math.inf])))
