"""The vote of seven classifiers: 23 hyperparameters of its members, and 7 weights."""

from core.datasets.task import CLASSIFICATION_TASKS
from core.estimators.model import Model
from core.space import Axis

# The ranges of Yogatama and Mann 2014, table 4. The paper's text has lost most minima and some
# maxima: the ends given in `OURS` are ours.
_BIAS, _AVERAGED = "Winnow: change of its threshold that ends it", "Perceptron: averaged"
_FLOOR, _LONGEST = "Naive Bayes: least probability", "Passive-aggressive: longest step"
_MEMBERS = (
    Axis("winnow_epochs", "Winnow: rounds", "int", 1, 15, default=5),
    Axis("winnow_tol", "Winnow: change that ends it", "float", 1e-4, 0.1, True, default=1e-3),
    Axis("winnow_bias_tol", _BIAS, "float", 1e-4, 0.1, True, default=1e-3),
    Axis("winnow_margin", "Winnow: margin", "float", 1e-4, 1.0, True, default=0.1),
    Axis("perceptron_average", _AVERAGED, "choice", choices=(False, True), default=True),
    Axis("perceptron_epochs", "Perceptron: rounds", "int", 1, 15, default=5),
    Axis("logistic_l1", "Logistic: L1 penalty", "float", 1e-6, 10.0, True, default=1e-3),
    Axis("logistic_l2", "Logistic: L2 penalty", "float", 1e-6, 10.0, True, default=1e-3),
    Axis("logistic_max_iter", "Logistic: most iterations", "int", 1, 500, True, default=100),
    Axis("logistic_tol", "Logistic: gain that ends it", "float", 1e-7, 1e-3, True, default=1e-5),
    Axis("bayes_floor", _FLOOR, "float", 1e-4, 1e-2, True, (), 1e-3, most=0.5),
    Axis("svm_degree", "Polynomial: degree", "int", 1, 20, default=3),
    Axis("svm_bias", "Polynomial: constant", "float", 1e-2, 10.0, True, default=1.0),
    Axis("svm_lambda", "Polynomial: how fast steps shrink", "float", 1e-4, 1.2, True, default=1e-3),
    Axis("svm_max_iter", "Polynomial: steps", "int", 100, 20_000, True, default=2000),
    Axis("svm_batch", "Polynomial: rows a step", "int", 1, 5, default=1),
    Axis("svm_l2", "Polynomial: L2 penalty", "float", 1e-4, 100.0, True, default=1e-3),
    Axis("pa_sensitivity", "Passive-aggressive: margin", "float", 1e-2, 1.5, True, default=1.0),
    Axis("pa_relaxation", _LONGEST, "float", 1e-3, 1.5, True, default=1e-2),
    Axis("pa_epochs", "Passive-aggressive: rounds", "int", 1, 8, default=5),
    Axis("ikpa_bins", "Intersection kernel: pieces a column", "int", 1, 10, default=5),
    Axis("ikpa_rate", "Intersection kernel: step", "float", 1e-2, 1.0, True, default=0.1),
    Axis("ikpa_epochs", "Intersection kernel: rounds", "int", 1, 8, default=4),
)
OURS: dict[str, tuple[str, ...]] = {
    "winnow_epochs": ("low", "high"),
    "winnow_tol": ("high",),
    "winnow_bias_tol": ("high",),
    "winnow_margin": (),
    "perceptron_epochs": ("low",),
    "logistic_l1": ("low",),
    "logistic_l2": ("low",),
    "logistic_max_iter": ("low",),
    "svm_degree": ("low",),
    "svm_lambda": ("low",),
    "svm_max_iter": ("low",),
    "svm_batch": ("low",),
    "svm_l2": ("low",),
    "pa_sensitivity": ("low",),
    "pa_relaxation": ("low",),
    "pa_epochs": ("low", "high"),
    "ikpa_bins": ("low", "high"),
    "ikpa_rate": ("low", "high"),
    "ikpa_epochs": ("low",),
}
_VOTES = {
    "winnow": "Winnow",
    "perceptron": "the perceptron",
    "logistic": "logistic regression",
    "bayes": "naive Bayes",
    "svm": "the polynomial machine",
    "pa": "passive-aggressive",
    "ikpa": "the intersection kernel",
}
_WEIGHTS = tuple(
    Axis(f"weight_{name}", f"Votes of {title}", "float", 0.0, 1.0, default=1.0, least=0)
    for name, title in _VOTES.items()
)

VOTE7 = Model.of_sklearn(
    "core.estimators.vote7.classifier.Vote7Classifier",
    (*_MEMBERS, *_WEIGHTS),
    lambda seed: {"random_state": seed},
    name="vote7",
    compiled=True,
    title="Vote of seven classifiers",
    noun="a vote of seven classifiers",
    good_for="Seven quick classifiers vote; tuning finds how much each should count.",
    rare=True,
    cost="Fits in a second or two on most tables. Its 30 settings want many trials, or what was "
    "learned from earlier tables.",
    tasks=CLASSIFICATION_TASKS,
    scaled=True,
    simplex=tuple(axis.name for axis in _WEIGHTS),
    competes=False,
).with_calibration()
