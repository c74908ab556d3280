"""Linear regression with an L2 penalty (ridge)."""

from __future__ import annotations

from collections.abc import Callable

from core.datasets.task import Task
from core.estimators.facts import ENOUGH_ROWS, ModelingFacts, Suggestion, count_word
from core.estimators.model import Model
from core.estimators.recipe import Recipe, build_from_recipe, script_from_recipe
from core.space import Axis, Setting


def _search_space(task: str) -> tuple[Axis, ...]:
    # At the lower end the penalty is so small that it is ordinary least squares.
    return (Axis("alpha", "Penalty on large weights", "float", 1e-4, 1e4, log=True, default=1.0),)


def _make_recipe(task: str, setting: Setting, seed: int) -> Recipe:
    arguments = {"alpha": float(setting["alpha"]), "random_state": seed}
    return Recipe("sklearn.linear_model", "Ridge", arguments)


def linear_suggestion(title: str) -> Callable[[ModelingFacts], Suggestion]:
    """The `suggests` of a linear model."""

    def make_suggestion(facts: ModelingFacts) -> Suggestion:
        rank = 4
        if facts.texts:
            why = f"a {title} weighs thousands of words at once, which few other models do as well."
        elif facts.sparse:
            why = f"mostly zeros, as in such files, suit a {title}, which never fills them in."
        elif facts.weights > facts.training:
            why = (
                f"with {facts.weights:,} weights for {facts.learning:,} training rows, a {title} "
                "with a learned penalty is safest; a flexible model would learn the rows by heart."
            )
        elif facts.groups and facts.rows < ENOUGH_ROWS:
            group_names = ", ".join(facts.groups[:3]) + (", …" if len(facts.groups) > 3 else "")
            why = (
                f"the column names form {count_word(len(facts.groups))} groups ({group_names}), "
                f"and a {title} can learn a penalty for each of them."
            )
        elif facts.rows < ENOUGH_ROWS:
            why = f"a {title} has little to overfit here and every weight can be read."
        else:
            rank = 1
            why = (
                f"a {title} is tuned quickly even so. Gradient boosting may be more accurate, "
                "but each of its trials takes long."
            )
        return Suggestion(rank, f"{facts.sentence}: {why}")

    return make_suggestion


def _starting_settings(task: str, default: Setting) -> tuple[Setting, ...]:
    return ({"alpha": 0.01}, {"alpha": 100.0})


LINEAR = Model(
    name="linear",
    title="Linear regression",
    noun="a linear model",
    good_for="Predicts a number as a weighted sum of the columns. Every weight can be read.",
    cost="Fits in well under a second, even with many rows.",
    tasks=(Task.REGRESSION,),
    space=_search_space,
    build=build_from_recipe(_make_recipe),
    loss={Task.REGRESSION: "linear"},
    takes_sparse=True,
    scaled=True,
    categories="levels",
    script=script_from_recipe(_make_recipe),
    starts=_starting_settings,
    complexity=1,
    suggests=linear_suggestion("linear regression"),
)
