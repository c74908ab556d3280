"""Linear-chain conditional random fields, which label every token of a sequence."""

from __future__ import annotations

from core.datasets.task import Task
from core.estimators.facts import ModelingFacts, Suggestion
from core.estimators.model import Model
from core.estimators.one_penalty import penalty_recipe, penalty_space
from core.estimators.recipe import build_from_recipe, script_from_recipe

_MAKE_RECIPE = penalty_recipe("core.estimators.structured.crf_tagger", "CrfTagger")


def _suggests(facts: ModelingFacts) -> Suggestion:
    neighbours = "a conditional random field knows which labels follow each other."
    return Suggestion(1, f"{facts.sentence}: {neighbours}")


CRF = Model(
    name="crf",
    title="Conditional random field",
    noun="a conditional random field",
    good_for="Labels every token of a sequence, such as the words of a sentence, and uses that "
    "neighbouring labels depend on each other. Every weight can be read.",
    cost="Fits in seconds; more labels and more different words take longer.",
    tasks=(Task.SEQUENCE,),
    space=penalty_space,
    build=build_from_recipe(_MAKE_RECIPE),
    loss={Task.SEQUENCE: "crf"},
    takes_sparse=False,
    scaled=False,
    script=script_from_recipe(_MAKE_RECIPE),
    suggests=_suggests,
)
