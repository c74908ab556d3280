"""Files of earlier versions: models that name their modules by what these were called then."""

from __future__ import annotations

import importlib
import pickle

import numpy as np
import pytest

from core.estimators.dlgm.dlgm_classifier import DlgmClassifier
from core.estimators.lda.online_lda import OnlineLda
from core.estimators.structured.crf_tagger import CrfTagger
from core.estimators.tables.l1l2_classifier import L1L2Classifier
from core.old_names import NOW

BEFORE = {
    "core.estimators.lda.online_lda": "core.estimators.lda",
    "core.estimators.dlgm.dlgm_classifier": "core.estimators.dlgm",
    **{now: old for old, now in NOW.items()},
}


def as_before(thing: object) -> bytes:
    """A pickle as an earlier version wrote it: the same, with the old module's name."""
    module = type(thing).__module__
    written = pickle.dumps(thing, protocol=0)
    assert module.encode() in written
    return written.replace(f"c{module}\n".encode(), f"c{BEFORE[module]}\n".encode())


@pytest.mark.parametrize("kind", [CrfTagger, OnlineLda, DlgmClassifier, L1L2Classifier])
def test_models_of_earlier_versions_open(kind):
    opened = pickle.loads(as_before(kind()))
    assert type(opened) is kind
    assert opened.get_params() == kind().get_params()


def test_a_fitted_model_of_an_earlier_version_predicts_as_before():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    fitted = L1L2Classifier().fit(X, X[:, 0] > 0)
    opened = pickle.loads(as_before(fitted))
    assert (opened.predict_proba(X) == fitted.predict_proba(X)).all()


@pytest.mark.parametrize("old", NOW)
def test_every_old_name_gives_the_module_that_took_its_place(old):
    assert importlib.import_module(old) is importlib.import_module(NOW[old])


def test_what_never_was_is_not_found():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("core.estimators.crf_tagger_of_old")
    with pytest.raises(AttributeError):
        importlib.import_module("core.estimators.lda").Nothing  # noqa: B018
