"""RNA secondary structure by a conditional log-linear model over base pairs and loops."""

from __future__ import annotations

from core.datasets.task import Task
from core.estimators.facts import ModelingFacts, Suggestion
from core.estimators.model import Model
from core.estimators.one_penalty import penalty_recipe, penalty_space
from core.estimators.recipe import build_from_recipe, script_from_recipe

_MAKE_RECIPE = penalty_recipe("core.estimators.structured.rna_folder", "RnaFolder")


def _suggests(facts: ModelingFacts) -> Suggestion:
    learned = "it learns base pairs and loops from known structures."
    return Suggestion(1, f"{facts.sentence}: {learned}")


RNA = Model(
    name="rna",
    title="RNA folding",
    noun="RNA folding",
    good_for="Learns from molecules of known structure which bases pair, and folds new molecules. "
    "Its 708 weights belong to 15 kinds of motif that can be read.",
    cost="Seconds for short molecules, minutes for a hundred of some hundred bases.",
    tasks=(Task.STRUCTURE,),
    space=penalty_space,
    build=build_from_recipe(_MAKE_RECIPE),
    loss={Task.STRUCTURE: "rna"},
    takes_sparse=False,
    scaled=False,
    script=script_from_recipe(_MAKE_RECIPE),
    suggests=_suggests,
)
