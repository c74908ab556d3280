"""The line of an exported script that computes a test score, for every metric."""

from __future__ import annotations

from core.export.constructor import Code
from core.export.finished_run import FinishedRun

# {metric: (function of sklearn.metrics, what the model is asked for, further arguments)}
_METRICS = {
    "accuracy": ("accuracy_score", "predict", ""),
    "balanced_accuracy": ("balanced_accuracy_score", "predict", ""),
    "f1": ("f1_score", "predict", ', average="macro"'),
    "auc": ("roc_auc_score", "scores", ""),
    "log_loss": ("log_loss", "predict_proba", ", labels=model.classes_"),
    "r2": ("r2_score", "predict", ""),
    "mse": ("mean_squared_error", "predict", ""),
    "mae": ("mean_absolute_error", "predict", ""),
}


def scorer(run: FinishedRun, code: Code) -> str:
    """The expression of the run's metric on ``X_test`` and ``y_test`` for ``model``."""
    function, asked, more = _METRICS[run.results["metric"]]
    code.imports.setdefault("sklearn.metrics", set()).add(function)
    if asked == "scores":
        return f"{function}({_class_scores(run, code)})"
    return f"{function}(y_test, model.{asked}(X_test){more})"


def _class_scores(run: FinishedRun, code: Code) -> str:
    probable = hasattr(run.pipeline, "predict_proba")
    if run.takeaway.task == "binary":
        said = "predict_proba(X_test)[:, 1]" if probable else "decision_function(X_test)"
        return f"y_test, model.{said}"
    # Each class against the rest, averaged: 0–1 columns work for scores of any kind.
    code.imports.setdefault("sklearn.preprocessing", set()).add("label_binarize")
    said = "predict_proba" if probable else "decision_function"
    return f"label_binarize(y_test, classes=model.classes_), model.{said}(X_test)"
