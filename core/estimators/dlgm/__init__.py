"""Deep latent Gaussian models."""

from typing import Any


def __getattr__(name: str) -> Any:
    """The estimator, which files of earlier versions look for here."""
    if name != "DlgmClassifier":
        raise AttributeError(name)
    from core.estimators.dlgm.dlgm_classifier import DlgmClassifier

    return DlgmClassifier
