"""The registry of models: a new one is a line here."""

from core.estimators.dlgm.dlgm_model import DLGM
from core.estimators.lda.lda_model import LDA
from core.estimators.model import Model, check_model
from core.estimators.multi_model import combined_model
from core.estimators.structured.structured_models import CRF, RNA
from core.estimators.tables.curved_models import KNN, MLP, NAIVE_BAYES, SVM
from core.estimators.tables.linear_models import ELASTIC_NET, LINEAR, LOGISTIC, LOGISTIC_L1L2
from core.estimators.tables.tree_models import (
    BOOSTING,
    CATBOOST,
    EXTRA_TREES,
    FOREST,
    LIGHTGBM,
    XGBOOST,
)
from core.estimators.vote7.vote7_model import VOTE7
from core.extensions import Registry

_ALL = (
    *(LINEAR, LOGISTIC, LOGISTIC_L1L2, ELASTIC_NET),
    *(SVM, FOREST, EXTRA_TREES, BOOSTING, LIGHTGBM, XGBOOST, CATBOOST),
    *(MLP, KNN, NAIVE_BAYES, VOTE7, DLGM),
    *(CRF, RNA, LDA),
)

_MODELS = (*_ALL, combined_model(lambda: MODELS))
MODELS: Registry[Model] = Registry("tunescope.models", _MODELS, check_model)


def model_named(name: str, *, probabilities: bool = False) -> Model:
    """A model by its name, or its probabilistic form; a KeyError where there is none."""
    model = MODELS[name]
    return (model.probabilistic or model) if probabilities else model


def types_of_extensions() -> frozenset[str]:
    """The types that installed extensions declare in `Model.holds`."""
    added = (model for name, model in MODELS.items() if name not in MODELS.own_entries)
    return frozenset(name for model in added for name in model.holds)
