"""The line of an exported script that computes a test score, for every metric."""

from __future__ import annotations

from core.export.finished_run import FinishedRun
from core.export.script.constructor import CodeWriter

# {metric: (function of sklearn.metrics, method of the model, further arguments)}
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

# Used instead where a second file, which may hold classes that training never saw, is the test:
# {metric: (function of the script, method of the model)}.
_CODED_METRICS = {"balanced_accuracy", "f1"}
_UNSEEN_CLASS_METRICS = {"auc": ("area", "scores"), "log_loss": ("log_loss_of", "predict_proba")}

_CODES_FUNCTION = '''
def places(labels, classes):
    """The place of every label among the classes; -1 for a class that training never saw."""
    place = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    return np.where(classes[place] == labels, place, -1)
'''
_AREA_FUNCTION = '''
def area(y, said, classes):
    """One class against the rest, averaged; a class that training never saw has the area 0."""
    place = places(y, classes)
    said = np.stack([-said, said], axis=1) if said.ndim == 1 else said
    found = [k for k in range(len(classes)) if 0 < np.sum(place == k) < len(y)]
    areas = [roc_auc_score(place == k, said[:, k]) for k in found]
    areas += [0.0] * bool(np.any(place < 0))
    return np.mean(areas) if areas else np.nan
'''
_LOG_LOSS_FUNCTION = '''
def log_loss_of(y, shares, classes):
    """Mean of -log p of the true class; one that training never saw has the probability 0."""
    place = places(y, classes)
    own = np.where(place < 0, 0.0, shares[np.arange(len(y)), place])
    tiny = np.finfo(float).eps
    return -np.mean(np.log(np.clip(own, tiny, 1 - tiny)))
'''


def score_expression(run: FinishedRun, code: CodeWriter) -> str:
    """The expression of the run's metric on ``X_test`` and ``y_test`` for ``model``."""
    metric = run.results.metric
    function, output, extra_arguments = _METRICS[metric]
    has_unseen_classes = _may_have_unseen_classes(run)
    if not (has_unseen_classes and metric == "log_loss"):
        code.imports.setdefault("sklearn.metrics", set()).add(function)
    if has_unseen_classes and metric in _UNSEEN_CLASS_METRICS:
        function, output = _UNSEEN_CLASS_METRICS[metric]
        method = _score_method(run) if output == "scores" else output
        return f"{function}(y_test, model.{method}(X_test), model.classes_)"
    if output == "scores":
        return _area_expression(run, function)
    if has_unseen_classes and metric in _CODED_METRICS:
        codes = (f"places({y}, model.classes_)" for y in ("y_test", "model.predict(X_test)"))
        return f"{function}({', '.join(codes)}{extra_arguments})"
    return f"{function}(y_test, model.{output}(X_test){extra_arguments})"


def score_functions(run: FinishedRun) -> list[str]:
    """The functions that `score_expression` needs in the script; usually none."""
    metric = run.results.metric
    if not _may_have_unseen_classes(run) or metric not in {*_CODED_METRICS, *_UNSEEN_CLASS_METRICS}:
        return []
    functions = {"auc": [_AREA_FUNCTION], "log_loss": [_LOG_LOSS_FUNCTION]}
    return [_CODES_FUNCTION, *functions.get(metric, [])]


def _may_have_unseen_classes(run: FinishedRun) -> bool:
    return bool(run.takeaway.test_source and run.takeaway.classes)  # in a second file


def _score_method(run: FinishedRun) -> str:
    return "predict_proba" if hasattr(run.pipeline, "predict_proba") else "decision_function"


def _area_expression(run: FinishedRun, function: str) -> str:
    scores = f"model.{_score_method(run)}(X_test)"
    if run.takeaway.task.has_two_classes:
        second = "[:, 1]" if "proba" in scores else ""
        return f"{function}(y_test, {scores}{second})"
    # Each class against the rest, averaged over those that occur.
    pairs = f"zip(model.classes_, {scores}.T)"
    return f"np.nanmean([{function}(y_test == label, own) for label, own in {pairs}])"
