"""Deep latent Gaussian models with the search space of McInerney 2017, section 4.2."""

import math
from typing import Any

from core.datasets.task import CLASSIFICATION_TASKS
from core.estimators.dlgm.network import joint_log_densities
from core.estimators.facts import ModelingFacts
from core.estimators.model import Model
from core.space import Axis

# Of the prior variance κ and the step ρ: log in [−5, −0.05], natural logarithms.
_MIN_SCALE, _MAX_SCALE = math.exp(-5.0), math.exp(-0.05)

_MIN_ROWS = 300  # to learn what rows look like, beside their classes
_MAX_TRIAL_MINUTES = 2.0  # of a trial
_FOLDS, _EPOCHS, _ROWS_A_STEP = 5, 50, 64  # what a run and the model have by default
_SECONDS_A_STEP, _SECONDS_A_COLUMN = 4e-3, 4e-6  # measured on one core: 61 and 1,850 columns
_SIZE = "How large weights may be"
_AXES = (
    Axis("n1", "Latent variables in the first layer", "int", 10, 200, default=100),
    Axis("n2", "Latent variables in the second layer, 0: none", "int", 0, 200, default=50),
    Axis("kappa", _SIZE, "float", _MIN_SCALE, _MAX_SCALE, True, default=0.5, most=1),
    Axis("rho", "Learning rate", "float", _MIN_SCALE, _MAX_SCALE, True, default=0.1, most=1),
)


def training_score(model: Any, X: Any, y: Any) -> float:
    """The mean log p(x, y) of training rows in nats under the approximate posterior."""
    # The proxy of the marginal likelihood of McInerney 2017; log p(y | x) would tend to 0.
    return float(joint_log_densities(model, X, y).mean())


def _size_warning(facts: ModelingFacts) -> str:
    if facts.rows < _MIN_ROWS:
        return f"{facts.rows:,} rows are few for it: it also learns what rows look like."
    training_rows = facts.training * (_FOLDS - 1) / _FOLDS
    steps = _FOLDS * _EPOCHS * training_rows / _ROWS_A_STEP
    minutes = steps * (_SECONDS_A_STEP + _SECONDS_A_COLUMN * facts.inputs) / 60
    if minutes < _MAX_TRIAL_MINUTES:
        return ""
    return (
        f"{facts.rows:,} rows of {facts.inputs:,} columns are many for it: a trial of {_FOLDS} "
        f"folds takes some {minutes:,.0f} minutes."
    )


DLGM = Model.of_sklearn(
    "core.estimators.dlgm.dlgm_classifier.DlgmClassifier",
    _AXES,
    lambda seed: {"random_state": seed},
    name="dlgm",
    title="Deep latent Gaussian model",
    noun="a deep latent Gaussian model",
    good_for="Learns from what few causes rows or small pictures come; can generate new ones.",
    rare=True,
    cost="Slow: some ten seconds a fit for a thousand pictures of two thousand points, and each "
    "trial fits several times.",
    tasks=CLASSIFICATION_TASKS,
    scaled=False,  # it standardizes columns itself, so that what it draws is on their scale
    training_score=training_score,
    extra="deep",
    warns=_size_warning,
    shows="pictures",
    folder="classes",
    carrier="core.export.bundle.dlgm_carrier",
    costly=True,
    competes=False,
)
