"""Latent Dirichlet allocation with the search space of McInerney 2017, section 4.1."""

from __future__ import annotations

import math
from typing import Any

from core.datasets.task import Task
from core.estimators.facts import ModelingFacts, Suggestion
from core.estimators.model import Model
from core.estimators.recipe import Recipe, build_from_recipe, script_from_recipe
from core.space import Axis, Setting

_MIN_PRIOR = math.exp(-5.0)  # of both priors: log α, log η in [−5, 0], natural logarithms
MINIBATCH = 100  # documents that it learns from at a time, as in the paper


def _search_space(task: str) -> tuple[Axis, ...]:
    mixing, wording = "How mixed documents are", "How alike the words of topics are"
    slowing = "How fast learning slows down"
    return (
        Axis("topics", "Topics", "int", 50, 200, default=50, least=2),
        Axis("alpha", mixing, "float", _MIN_PRIOR, 1.0, log=True, default=1 / 50),
        Axis("eta", wording, "float", _MIN_PRIOR, 1.0, log=True, default=1 / 50),
        Axis("kappa", slowing, "float", 0.5, 0.9, default=0.7, least=0.5, most=1),
    )


def _make_recipe(task: str, setting: Setting, seed: int) -> Recipe:
    arguments = {
        "topics": int(setting["topics"]),
        "alpha": float(setting["alpha"]),
        "eta": float(setting["eta"]),
        "kappa": float(setting["kappa"]),
        "minibatch": MINIBATCH,
        "random_state": seed,
    }
    return Recipe("core.estimators.lda.online_lda", "OnlineLda", arguments)


def _training_score(model: Any, X: Any, y: Any) -> float:
    """Log p(second half | first half) of training documents, in nats a word."""
    # It ranks settings as new documents do; the bound rewards topics of these documents alone.
    from core.estimators.lda.lda_likelihood import completion_log_densities

    logs, words = completion_log_densities(model, X, 0)
    return float(logs.sum()) / max(1.0, float(words.sum()))


def _suggests(facts: ModelingFacts) -> Suggestion:
    vocabulary_text = f"{facts.words:,} different words are kept, and it finds which come together."
    return Suggestion(1, f"{facts.items}: {vocabulary_text}")


LDA = Model(
    name="lda",
    title="Latent Dirichlet allocation",
    noun="latent Dirichlet allocation",
    good_for="Finds the topics of many texts: groups of words that come together, and how much of "
    "every text is about which. It needs no target.",
    cost="Some seconds for ten thousand texts; more topics take longer in proportion.",
    tasks=(Task.TOPICS,),
    space=_search_space,
    build=build_from_recipe(_make_recipe),
    loss={},
    takes_sparse=True,
    scaled=False,
    script=script_from_recipe(_make_recipe),
    training_score=_training_score,
    suggests=_suggests,
    minibatch=MINIBATCH,
    shows="topics",
    folder="topics",
)
