"""Metrics of sequences and molecules, by hand-worked figures."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.estimators.structured.rna_folder import RnaFolder
from core.losses.rna import decode
from core.tuning.results.comparison import molecule_results, sequence_results
from core.tuning.run_results import PairCounts, SequenceCounts
from core.tuning.scores.metric import Predictions
from core.tuning.scores.metrics import METRICS, default_metric, metric_scores
from core.tuning.scores.structured_metrics import GAMMAS, OWN, predict_tokens

Y = np.array([0, 1, 1, 0, 2])  # sequences a: three tokens, b: two
CALLED = np.array([0, 1, 0, 0, 2])
SEQUENCES = np.array([0, 0, 0, 1, 1])

FOUR = 7  # where γ = 4 is


def tokens():
    return Predictions(
        CALLED,
        losses=np.array([0.3, 0.3, 0.3, 0.1, 0.1]),
        whole=np.stack([CALLED, SEQUENCES], axis=1),
    )


def molecules():
    pairs = np.zeros((2, len(GAMMAS) + 1, 3), dtype=int)
    pairs[0, [FOUR, OWN]] = (6, 8, 10)
    pairs[1, [FOUR, OWN]] = (0, 2, 10)
    return Predictions(np.zeros(2), losses=np.array([4.0, 8.0]), pairs=pairs)


def test_a_sequence_is_right_when_every_token_is():
    scores = metric_scores(Y, tokens(), "sequence")
    assert scores["accuracy"] == pytest.approx(4 / 5)
    assert scores["sequence_accuracy"] == pytest.approx(1 / 2)
    assert scores["joint_log_loss"] == pytest.approx(1.1 / 5)


def test_resamples_draw_whole_sequences():
    weights = np.array([[2.0, 2, 2, 0, 0], [0, 0, 0, 3, 3]])
    drawn = METRICS["sequence_accuracy"].weighted_scores(Y, tokens(), weights)
    assert drawn.tolist() == [0.0, 1.0]


def test_a_sequence_counts_once_whatever_its_length():
    counts = sequence_results(Y, {"tuned": tokens(), "default": tokens()})
    assert counts == SequenceCounts(tuned=1, default=1, count=2)


def test_pairs_of_all_molecules_count_together():
    scores = metric_scores(np.zeros(2), molecules(), "structure")
    assert scores["sensitivity"] == pytest.approx(6 / 20)
    assert scores["specificity"] == pytest.approx(6 / 10)
    assert scores["pair_f1"] == pytest.approx(2 * 6 / (10 + 20))
    assert scores["structure_log_loss"] == pytest.approx(6.0)
    twice_the_first = METRICS["sensitivity"].weighted_scores(
        np.zeros(2), molecules(), np.array([[2.0, 0.0]])
    )
    assert twice_the_first == pytest.approx([6 / 10])


def test_the_curve_holds_every_gamma_and_none_where_nothing_was_called():
    pairs, curve = molecule_results({"tuned": molecules(), "default": molecules()})
    assert pairs.tuned == PairCounts(right=6, called=10, true=20)
    assert pairs.molecules == 2
    gammas = [gamma for gamma, _, _ in curve.tuned]
    assert gammas == [2.0**k for k in range(-5, 11)]
    assert curve.tuned[FOUR] == pytest.approx([4.0, 0.3, 0.6])
    assert np.isnan(curve.tuned[0][2])


def test_the_metrics_have_the_gammas_that_structures_are_called_at():
    assert GAMMAS.tolist() == decode.GAMMAS.tolist()
    assert GAMMAS[FOUR] == RnaFolder().gamma


def test_the_usual_metric_fits_the_task():
    assert default_metric("sequence") == "accuracy"
    assert default_metric("structure") == "pair_f1"
    for task in ("sequence", "structure"):
        assert task in METRICS[default_metric(task)].tasks


def test_tokens_are_counted_under_their_sequence_whatever_its_name():
    class Model:
        def log_losses(self, X, y):
            return np.full(len(y), 0.25)

    X = pd.DataFrame({"sentence": ["s9", "s9", "s1"], "word": ["a", "b", "c"]})
    said = predict_tokens(Model(), X, np.array(["n", "v", "n"]), Predictions(np.array([0, 1, 1])))
    assert said.whole.tolist() == [[0, 1], [1, 1], [1, 0]]
    assert METRICS["sequence_accuracy"].score(np.array([0, 1, 0]), said) == 0.5
