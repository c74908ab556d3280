"""Latent Dirichlet allocation: the priors of McInerney 2017, section 4.1, with fewer topics."""

import math
from typing import Any

from core.datasets.task import Task
from core.estimators.facts import Suggestion
from core.estimators.model import Model
from core.space import Axis

_MIN_PRIOR = math.exp(-5.0)  # of both priors: log α, log η in [−5, 0], natural logarithms
MINIBATCH = 100  # documents that it learns from at a time, as in the paper
_MIXING, _WORDING = "How mixed documents are", "How alike the words of topics are"
_AXES = (
    Axis("topics", "Topics", "int", 2, 200, log=True, default=10, least=2, most=10_000),
    Axis("alpha", _MIXING, "float", _MIN_PRIOR, 1.0, log=True, default=1 / 10),
    Axis("eta", _WORDING, "float", _MIN_PRIOR, 1.0, log=True, default=1 / 50),
    Axis(
        "kappa", "How fast learning slows down", "float", 0.5, 0.9, default=0.7, least=0.5, most=1
    ),
)


def _training_score(model: Any, X: Any, y: Any) -> float:
    """Log p(second half | first half) of training documents, in nats a word."""
    # It ranks settings as new documents do; the bound rewards topics of these documents alone.
    from core.estimators.lda.fitted_topics import completion_log_densities

    logs, words = completion_log_densities(model, X, 0)
    return float(logs.sum()) / max(1.0, float(words.sum()))


LDA = Model.of_sklearn(
    "core.estimators.lda.online_lda.OnlineLda",
    _AXES,
    lambda seed: {"minibatch": MINIBATCH, "random_state": seed},
    name="lda",
    compiled=True,
    title="Latent Dirichlet allocation",
    noun="latent Dirichlet allocation",
    good_for="Finds the topics of many texts, and how much each text is about which.",
    cost="Some seconds for ten thousand texts; more topics take longer in proportion.",
    tasks=(Task.TOPICS,),
    takes_sparse=True,
    training_score=_training_score,
    suggests=lambda facts: Suggestion(
        1,
        f"{facts.items}: {facts.words:,} different words are kept, and it finds which come "
        "together.",
    ),
    minibatch=MINIBATCH,
    # More split subjects; the paper searched 50 to 200.
    most=lambda rows: {"topics": max(2, math.isqrt(rows))},
    shows="topics",
    folder="topics",
    carrier="core.export.bundle.lda_carrier",
)
