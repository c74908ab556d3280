"""Latent Dirichlet allocation: topics of texts."""

from typing import Any


def __getattr__(name: str) -> Any:
    """The estimator, which files of earlier versions look for here."""
    if name != "OnlineLda":
        raise AttributeError(name)
    from core.estimators.lda.online_lda import OnlineLda

    return OnlineLda
