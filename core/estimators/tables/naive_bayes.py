"""Gaussian naive Bayes: each column a normal distribution in each class."""

from __future__ import annotations

from core.datasets.task import CLASSIFICATION_TASKS
from core.estimators.model import Model
from core.estimators.recipe import Recipe, build_from_recipe, script_from_recipe
from core.space import Axis, Setting


def _search_space(task: str) -> tuple[Axis, ...]:
    widening = "Widening of every distribution (share of the largest variance)"
    return (Axis("var_smoothing", widening, "float", 1e-12, 1.0, log=True, default=1e-9),)


def _make_recipe(task: str, setting: Setting, seed: int) -> Recipe:
    arguments = {"var_smoothing": float(setting["var_smoothing"])}
    return Recipe("sklearn.naive_bayes", "GaussianNB", arguments)


NAIVE_BAYES = Model(
    name="naive-bayes",
    title="Naive Bayes (Gaussian)",
    noun="naive Bayes",
    good_for="Takes the columns for independent and normally distributed. A quick first guess, "
    "good with few rows.",
    cost="A fit takes milliseconds. Its probabilities are too sure where columns tell the same.",
    tasks=CLASSIFICATION_TASKS,
    space=_search_space,
    build=build_from_recipe(_make_recipe),
    loss={},
    takes_sparse=False,  # a class has a mean and a variance of every column, none of them 0
    scaled=True,  # or the widening would be a share of the largest column's variance alone
    script=script_from_recipe(_make_recipe),
    complexity=2,
)
