"""The benchmark of the best model: its measures against scikit-learn's, its means by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from best_model_files import Split
from best_model_table import Result, baseline_scores, comparisons, scores_of, table_means
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score


def split_of(task: str, y_train: np.ndarray, y_fresh: np.ndarray) -> Split:
    return Split("table", 0, task, "y", Path(), Path(), y_train, y_fresh)


@pytest.mark.parametrize("count", [2, 4])
def test_measures_of_classes_are_those_of_scikit_learn(count):
    rng = np.random.default_rng(count)
    codes, probabilities = rng.integers(0, count, 300), rng.dirichlet(np.ones(count), 300)
    predictions = pd.DataFrame(probabilities, columns=[f"probability of {c}" for c in range(count)])
    guesses = probabilities.argmax(axis=1)
    predictions["prediction"] = guesses.astype(float)  # 1.0 is the class 1
    scores = scores_of(split_of("multiclass", codes.astype(str), codes.astype(str)), predictions)
    areas = probabilities[:, 1] if count == 2 else probabilities
    assert scores == pytest.approx(
        {
            "accuracy": accuracy_score(codes, guesses),
            "log loss": log_loss(codes, probabilities),
            "AUC": roc_auc_score(codes, areas, multi_class="ovr"),
        }
    )


def test_a_class_that_no_row_trains_is_an_error_of_every_measure():
    split = split_of("multiclass", np.array(["a", "a", "b"]), np.array(["a", "c"]))
    scores = baseline_scores(split)
    assert scores["accuracy"] == scores["AUC"] == 0.5
    assert scores["log loss"] == pytest.approx((np.log(3 / 2) + np.log(1e6)) / 2)


def test_means_are_over_the_splits_that_all_have():
    def result(split: int, peer: str, r2: float | None) -> Result:
        scores = {} if r2 is None else {"R²": r2}
        failure = "It failed." if r2 is None else ""
        return Result("table", split, peer, 1.0, 2, {"R²": -0.1}, scores, failure=failure)

    results = [result(0, "ours", 0.8), result(1, "ours", 0.4), result(2, "ours", 0.9)]
    results += [result(0, "svm", None), result(1, "svm", -9.0)]  # fails; counts as -1
    means = table_means(results, ["ours", "svm"], "R²")
    assert means.loc["table"].to_dict() == pytest.approx({"ours": 0.6, "svm": -0.55})
    lines = comparisons(results, ["ours", "svm"])
    assert "| ours | 1.00 | 0.0000 | 0 (0) | 0.0 | 0 |" in lines
    assert "| svm | 2.00 | 1.1500 | 0 (0) | 0.0 | 1 |" in lines
    assert "| svm | 1 : 0, p 1.000, +1.1500, +1.1500 |" in lines
    assert lines[-1] == "- svm on table, split 0: It failed."
