"""Linear models of tables: least squares and logistic regression under L2 and L1 penalties."""

from collections.abc import Callable
from typing import Any

from core.datasets.task import CLASSIFICATION_TASKS, Task
from core.estimators.facts import ENOUGH_ROWS, ModelingFacts, Suggestion, count_word
from core.estimators.model import Axes, Model
from core.estimators.recipe import Recipe, on_standard_target, weights_of
from core.space import Axis, Setting

_LOW, _HIGH = 2.0**-10, 2.0**10  # the grid of Foo 2009, in scikit-learn's C = 1/penalty


def _linear_suggestion(title: str) -> Callable[[ModelingFacts], Suggestion]:
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
        # Below gradient boosting and forests, of which a trial takes seconds at that size.
        else:
            rank = 1
            why = (
                f"a {title} is tuned quickly even so. Gradient boosting may be more accurate, "
                "but each of its trials takes long."
            )
        return Suggestion(rank, f"{facts.sentence}: {why}")

    return make_suggestion


LINEAR = Model.of_sklearn(
    "sklearn.linear_model.Ridge",
    # At the lower end the penalty is so small that it is ordinary least squares.
    (Axis("alpha", "Penalty on large weights", "float", 1e-4, 1e4, log=True, default=1.0),),
    lambda seed: {"random_state": seed},
    name="linear",
    default_rank=4,
    title="Linear regression",
    noun="a linear model",
    good_for="A weighted sum of the columns; every weight can be read.",
    cost="Fits in well under a second, even with many rows.",
    tasks=(Task.REGRESSION,),
    loss={Task.REGRESSION: "linear"},
    takes_sparse=True,
    scaled=True,
    categories="levels",
    starts=({"alpha": 0.01}, {"alpha": 100.0}),
    complexity=1,
    suggests=_linear_suggestion("linear regression"),
)

LOGISTIC = Model.of_sklearn(
    "sklearn.linear_model.LogisticRegression",
    (Axis("C", "Trust in the data", "float", _LOW, _HIGH, log=True, default=1.0),),
    # scikit-learn's own 100 iterations are too few for columns that are not standardized.
    lambda seed: {"max_iter": 1000, "random_state": seed},
    name="logistic",
    default_rank=3,
    title="Logistic regression",
    noun="logistic regression",
    good_for="A weighted sum of the columns; every weight can be read.",
    cost="Fits in under a second on most tables.",
    tasks=CLASSIFICATION_TASKS,
    loss={Task.BINARY: "logistic", Task.MULTICLASS: "multinomial"},
    takes_sparse=True,
    scaled=True,
    categories="levels",
    starts=({"C": 0.05}, {"C": 20.0}),
    complexity=1,
    class_weights=True,
    suggests=_linear_suggestion("logistic regression"),
)

LOGISTIC_L1L2 = Model.of_sklearn(
    "core.estimators.tables.l1l2_classifier.L1L2Classifier",
    (
        # Maxima and the tolerance's range are those of Yogatama and Mann 2014, table 4. The least
        # penalties (1e-6) and the fewest iterations (1) are ours: the paper's text has lost them.
        Axis("l1", "Penalty that drops columns (L1)", "float", 1e-6, 10.0, True, default=1e-3),
        Axis("l2", "Penalty on large weights (L2)", "float", 1e-6, 10.0, True, default=1e-3),
        Axis("max_iter", "Iterations at most", "int", 1, 500, True, default=100),
        Axis("tol", "Gain below which it stops", "float", 1e-7, 1e-3, True, default=1e-5),
    ),
    name="logistic-l1l2",
    title="Logistic regression with two penalties",
    noun="logistic regression with two penalties",
    good_for="One penalty drops columns that say little, the other keeps weights small.",
    rare=True,
    cost="Fits in under a second on most tables.",
    tasks=CLASSIFICATION_TASKS,
    takes_sparse=True,
    scaled=True,
    categories="levels",
    starts=({"l1": 0.03, "l2": 1e-4}, {"l1": 1e-4, "l2": 1e-4, "max_iter": 300}),
    complexity=1,
)

# ElasticNet's alpha where the target has standard deviation 1: in its own unit a range would differ
# between grams and kilograms. Every weight is 0 from alpha = 1 / l1_ratio on.
STANDARD = "standard_alpha"


def _elastic_space(task: str) -> Axes:
    share = "Share of the penalty that switches columns off"
    if Task(task).has_numbers:
        return (
            # scikit-learn's default of 1 is of no unit; here it would nearly always give the mean.
            Axis(STANDARD, "Penalty on large weights", "float", 1e-4, 10.0, True, default=0.1),
            Axis("l1_ratio", share, "float", 0.0, 1.0, default=0.5, least=0, most=1),
        )
    return (
        Axis("C", "Trust in the data", "float", _LOW, _HIGH, True, default=1.0),
        Axis("l1_ratio", share, "float", 0.0, 1.0, default=0.0, least=0, most=1),
    )


def _elastic_recipe(task: str, setting: Setting, seed: int) -> Recipe:
    arguments: dict[str, Any] = {"l1_ratio": float(setting["l1_ratio"]), "random_state": seed}
    if Task(task).has_numbers:
        if "alpha" in setting:  # of runs of earlier versions, in the target's own unit
            arguments |= {"alpha": float(setting["alpha"])}
            return Recipe("sklearn.linear_model", "ElasticNet", arguments)
        arguments |= {"alpha": float(setting[STANDARD])}
        return on_standard_target(Recipe("sklearn.linear_model", "ElasticNet", arguments))
    # saga is the one solver of the mixed penalty. Its weights are good to three digits long
    # before scikit-learn's tolerance of 1e-4 is met, which is what a score can tell apart.
    arguments |= {"C": float(setting["C"]), "solver": "saga", "tol": 1e-3, "max_iter": 200}
    arguments |= weights_of(setting)
    return Recipe("sklearn.linear_model", "LogisticRegression", arguments)


def _elastic_starts(task: str, default: Setting) -> tuple[Setting, ...]:
    if Task(task).has_numbers:
        return ({STANDARD: 0.01}, {STANDARD: 0.05, "l1_ratio": 0.95})
    return ({"C": 0.1, "l1_ratio": 1.0}, {"C": 0.5, "l1_ratio": 0.5})


ELASTIC_NET = Model.of_recipe(
    _elastic_recipe,
    _elastic_space,
    name="elastic-net",
    title="Elastic net",
    noun="an elastic net",
    good_for="A weighted sum that drops columns; for many that may be useless.",
    rare=True,
    cost="A few times slower than plain linear or logistic regression.",
    takes_sparse=True,
    scaled=True,
    categories="levels",
    starts=_elastic_starts,
    complexity=1,
    class_weights=True,
)
