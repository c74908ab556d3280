"""Average ranks: worked by hand, ties, errors, and the sentence on who leads."""

from __future__ import annotations

import numpy as np
import pytest

from core.reproduction.yogatama.ranks import rank_methods, rank_rows, rank_text

METHODS = ("a", "b", "c")
ACCURACY = np.array(
    [
        [[0.9, 0.8, 0.7], [0.5, 0.5, 0.4]],  # ranks 1 2 3 and 1.5 1.5 3
        [[0.6, 0.7, 0.7], [1.0, 1.0, 1.0]],  # ranks 3 1.5 1.5 and 2 2 2
    ]
)


def test_equals_share_the_mean_of_their_ranks():
    found = rank_methods(ACCURACY, METHODS)
    np.testing.assert_allclose(found.of_runs, [[1.25, 1.75, 3.0], [2.5, 1.75, 1.75]])
    np.testing.assert_allclose(found.of_runs.sum(axis=1), 6.0)  # 1 + 2 + 3, however they tie


def test_mean_deviation_and_error_are_over_runs():
    found = rank_methods(ACCURACY, METHODS)
    np.testing.assert_allclose(found.mean_ranks, [1.875, 1.75, 2.375])
    np.testing.assert_allclose(found.deviation, [1.25 / 2**0.5, 0.0, 1.25 / 2**0.5])
    np.testing.assert_allclose(found.standard_errors, [0.625, 0.0, 0.625])
    assert [found.position_of(name) for name in METHODS] == [2, 1, 3]


def test_a_lead_is_paired_over_runs():
    lead, error = rank_methods(ACCURACY, METHODS).mean_lead("a", "c")
    assert lead == pytest.approx((1.75 - 0.75) / 2)
    assert error == pytest.approx(1.25)  # of 1.75 and −0.75: sd 2.5/√2, over √2


def test_one_run_has_neither_deviation_nor_error():
    printed = dict.fromkeys(METHODS, (1.0, 0.1, 2.0, 0.2))
    rows = list(rank_rows({}, {"dev": ACCURACY[:1], "test": ACCURACY[:1]}, METHODS, printed))
    assert rows[0]["dev"] == 1.25
    assert rows[0]["dev sd"] is None
    assert rows[2]["test %"] == 55.0
    assert (rows[0]["dev (paper)"], rows[0]["test sd (paper)"]) == (1.0, 0.2)
    said = list(rank_text({"dev": ACCURACY[:1]}, METHODS, "b", ("a", "c")))
    assert said == [
        "On dev data b comes second of 3 (1.75): 0.50 worse than a, 1.25 better than c."
    ]


def test_the_sentence_counts_standard_errors():
    (said,) = rank_text({"test": ACCURACY}, METHODS, "a", ("c",))
    assert said == (
        "On test data a comes second of 3 (1.88): 0.50 better than c, 0.4 standard errors."
    )
