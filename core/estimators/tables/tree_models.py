"""Models of decision trees: forests, and gradient boosting by scikit-learn and three libraries."""

from core.datasets.task import Task
from core.estimators.facts import ENOUGH_ROWS, ModelingFacts, Suggestion
from core.estimators.model import Axes, FitSize, Model, row_count_warning
from core.estimators.recipe import Recipe, on_standard_target, standardize_numbers
from core.space import Axis, Setting

_MAX_FOREST_SIZE = 1e6  # rows × columns: about two seconds a fit, seven minutes a run
_MAX_BOOSTED_SIZE = 2e6  # rows × columns × trees a step: two seconds a fit, seven minutes a run
_LEAF_ROWS, _LEAF_WEIGHT = "Rows in the smallest leaf", "Weight in the smallest leaf"
_ROWS = "Share of the rows for a tree"
_COLUMNS = "Share of the columns that a tree may ask for"
_WRAPPERS = "core.estimators.tables.library_wrappers"


# Of a tree of a forest, divided by leaf rows: rather too few, as such fits are not even begun.
_NUMBER_LEAVES, _CLASS_LEAVES = 0.3, 0.05
_NODE_BYTES, _HISTOGRAM_BYTES = 64, 256 * 20  # of scikit-learn: a node, a column in 256 bins


def _forest_bytes(size: FitSize, setting: Setting) -> float:
    leaves_a_row = _CLASS_LEAVES if size.classes else _NUMBER_LEAVES
    nodes = 2 * leaves_a_row * size.rows / int(setting["min_samples_leaf"])
    return int(setting["n_estimators"]) * nodes * (_NODE_BYTES + 8 * max(1, size.classes))


def _boosting_bytes(size: FitSize, setting: Setting) -> float:
    # Every leaf that may be split, some half of them, keeps the histograms of all columns.
    max_leaves = size.rows // (2 * int(setting["min_samples_leaf"]))
    leaves = max(1, min(int(setting["max_leaf_nodes"]), max_leaves) // 2)
    return size.columns * (size.rows + leaves * _HISTOGRAM_BYTES)


def _forest_space(task: str) -> Axes:
    usual = 1.0 if Task(task).has_numbers else "sqrt"
    label = "Columns tried at every split (a share, or a root)"
    return (
        Axis("n_estimators", "Number of trees", "int", 10, 500, log=True, default=100),
        Axis("max_features", label, "choice", choices=("sqrt", 0.3, 0.6, 1.0), default=usual),
        Axis("min_samples_leaf", _LEAF_ROWS, "int", 1, 50, True, default=1),
    )


def _suggest_forest(facts: ModelingFacts) -> Suggestion | None:
    if facts.rows < ENOUGH_ROWS or facts.rows * facts.inputs > _MAX_FOREST_SIZE:
        return None
    why = "enough for a random forest, which hardly needs tuning."
    if facts.classes > 2:
        why = "of so many classes a random forest takes less time than gradient boosting."
    return Suggestion(2, f"{facts.sentence}: {why}")


FOREST = Model.of_sklearn(
    ("sklearn.ensemble.RandomForestClassifier", "sklearn.ensemble.RandomForestRegressor"),
    _forest_space,
    lambda seed: {"n_jobs": 1, "random_state": seed},
    standardize_numbers,  # trees take differences whose squares are below 2e-16 for none
    name="forest",
    default_rank=2,
    default_rows=ENOUGH_ROWS,
    title="Random forest",
    noun="a random forest",
    good_for="The vote of many trees: good on almost any table, and hardly needs tuning.",
    cost="Time grows with the number of trees and rows; the model file is large.",
    takes_sparse=True,
    starts=(
        {"n_estimators": 250, "max_features": 0.3},
        {"n_estimators": 200, "max_features": 0.6, "min_samples_leaf": 3},
    ),
    complexity=5,
    fit_bytes=_forest_bytes,
    dearer=("n_estimators",),
    class_weights=True,
    suggests=_suggest_forest,
)

EXTRA_TREES = Model.of_sklearn(  # Geurts et al. 2006
    ("sklearn.ensemble.ExtraTreesClassifier", "sklearn.ensemble.ExtraTreesRegressor"),
    _forest_space,
    lambda seed: {"n_jobs": 1, "random_state": seed},
    standardize_numbers,  # as a forest's
    name="extra-trees",
    title="Extra trees",
    noun="extra trees",
    good_for="A forest whose splits are drawn at random; smoother where numbers are noisy.",
    cost="Quicker than a random forest of as many trees; the model file is larger.",
    takes_sparse=True,
    starts=(
        {"n_estimators": 250, "max_features": 0.6},
        {"n_estimators": 200, "max_features": 1.0, "min_samples_leaf": 2},
    ),
    complexity=5,
    fit_bytes=_forest_bytes,
    dearer=("n_estimators",),
    class_weights=True,
)


def _suggest_boosting(facts: ModelingFacts) -> Suggestion | None:
    if facts.rows < ENOUGH_ROWS or facts.rows * facts.inputs * facts.outputs > _MAX_BOOSTED_SIZE:
        return None
    why = "enough for gradient boosting, often the most accurate on tables like this."
    return Suggestion(3, f"{facts.sentence}: {why}")


BOOSTING = Model.of_sklearn(
    (
        "sklearn.ensemble.HistGradientBoostingClassifier",
        "sklearn.ensemble.HistGradientBoostingRegressor",
    ),
    (
        Axis("learning_rate", "Learning rate", "float", 0.01, 1.0, log=True, default=0.1),
        Axis("max_iter", "Number of trees", "int", 10, 500, log=True, default=100),
        Axis("max_leaf_nodes", "Leaves of a tree", "int", 2, 127, True, default=31, least=2),
        Axis("min_samples_leaf", _LEAF_ROWS, "int", 1, 100, True, default=20),
    ),
    lambda seed: {"random_state": seed},
    standardize_numbers,  # gradients are kept in single precision, whose numbers end at 1e38
    name="boosting",
    default_rank=1,
    default_rows=ENOUGH_ROWS,
    title="Gradient boosting",
    noun="gradient boosting",
    good_for="Trees that mend each other's errors; often the best from 1,000 rows on.",
    cost="Quick for its size, also with many rows. Takes several settings to tune.",
    starts=(
        {"learning_rate": 0.1, "max_iter": 150, "max_leaf_nodes": 6, "min_samples_leaf": 8},
        {"learning_rate": 0.05, "max_iter": 300, "max_leaf_nodes": 15, "min_samples_leaf": 10},
    ),
    complexity=6,
    fit_bytes=_boosting_bytes,
    dearer=("max_iter",),
    class_weights=True,
    suggests=_suggest_boosting,
    warns=row_count_warning(fewest=300),
)

LIGHTGBM = Model.of_sklearn(  # leaf by leaf (Ke et al. 2017)
    ("lightgbm.LGBMClassifier", "lightgbm.LGBMRegressor"),
    (
        Axis("learning_rate", "Learning rate", "float", 0.01, 0.5, log=True, default=0.1),
        Axis("n_estimators", "Number of trees", "int", 10, 500, log=True, default=100),
        Axis("num_leaves", "Leaves of a tree", "int", 2, 127, True, default=31, least=2),
        Axis("min_child_samples", _LEAF_ROWS, "int", 1, 100, True, default=20),
        Axis("colsample_bytree", _COLUMNS, "float", 0.3, 1.0, default=1.0, least=0.01, most=1),
        Axis("subsample", _ROWS, "float", 0.5, 1.0, default=1.0, least=0.01, most=1),
    ),
    lambda seed: {
        "subsample_freq": 1,  # without it the share of rows counts for nothing
        "random_state": seed,
        "n_jobs": 1,
        # It would else time two ways of adding up, which differ in the last digits.
        "force_col_wise": True,
        "verbosity": -1,
    },
    standardize_numbers,
    name="lightgbm",
    title="LightGBM",
    noun="LightGBM",
    good_for="Gradient boosting whose trees grow where it helps most; quick on many rows.",
    cost="Quick, also with many rows. Takes several settings to tune.",
    takes_sparse=False,  # what is kept of it is a model of scikit-learn's that does not either
    starts=(
        {"n_estimators": 300, "learning_rate": 0.05, "num_leaves": 15, "colsample_bytree": 0.7},
        {"n_estimators": 150, "num_leaves": 6, "min_child_samples": 8},
    ),
    complexity=6,
    dearer=("n_estimators",),
    extra="lightgbm",
    class_weights=True,
    warns=row_count_warning(fewest=300),
)


def _number_classes(classifier: Recipe) -> Recipe:
    """The classifier of a library that wants classes 0 … K − 1, and weights for the rows alone."""
    arguments = dict(classifier.arguments)
    weights = {name: arguments.pop(name) for name in ("class_weight",) if name in arguments}
    inner = Recipe(classifier.module, classifier.name, arguments)
    return Recipe(_WRAPPERS, "CodedClassifier", {"estimator": inner, **weights})


def _wrap_xgboost(task: str, recipe: Recipe) -> Recipe:
    if not Task(task).has_numbers:
        return _number_classes(recipe)
    # It predicts in single precision, and the way back to the target's unit multiplies that.
    return on_standard_target(Recipe(_WRAPPERS, "DoubleRegressor", {"estimator": recipe}))


XGBOOST = Model.of_sklearn(  # with penalized leaves (Chen and Guestrin 2016)
    ("xgboost.XGBClassifier", "xgboost.XGBRegressor"),
    (
        Axis("learning_rate", "Learning rate", "float", 0.01, 0.5, log=True, default=0.3),
        Axis("n_estimators", "Number of trees", "int", 10, 500, log=True, default=100),
        Axis("max_depth", "Depth of a tree", "int", 1, 12, default=6),
        Axis("min_child_weight", _LEAF_WEIGHT, "float", 0.1, 100.0, log=True, default=1.0),
        Axis("reg_lambda", "Penalty on large leaves", "float", 1e-3, 100.0, log=True, default=1.0),
        Axis("colsample_bytree", _COLUMNS, "float", 0.3, 1.0, default=1.0, least=0.01, most=1),
        Axis("subsample", _ROWS, "float", 0.5, 1.0, default=1.0, least=0.01, most=1),
    ),
    lambda seed: {"random_state": seed, "n_jobs": 1, "verbosity": 0},
    _wrap_xgboost,
    name="xgboost",
    title="XGBoost",
    noun="XGBoost",
    good_for="Gradient boosting with a penalty on its leaves; gains much from tuning.",
    cost="Quick, also with many rows. Its default takes large steps: tuning gains more than with "
    "others.",
    takes_sparse=False,  # it would take every 0 of a sparse table for missing
    starts=(
        {"n_estimators": 300, "learning_rate": 0.05, "max_depth": 4, "colsample_bytree": 0.7},
        {"n_estimators": 150, "learning_rate": 0.1, "max_depth": 3},
    ),
    complexity=6,
    dearer=("n_estimators",),
    extra="xgboost",
    class_weights=True,
    warns=row_count_warning(fewest=300),
)

# Its own default is 1,000 trees with steps by the number of rows; these reach as much in a third of
# the time. The steps are near what it takes for 300 trees on a thousand rows.
_STEPS = {Task.REGRESSION: 0.1, Task.BINARY: 0.05, Task.MULTICLASS: 0.2}


def _catboost_space(task: str) -> Axes:
    step, columns = _STEPS[Task(task)], "Share of the columns tried at every split"
    return (
        Axis("learning_rate", "Learning rate", "float", 0.01, 0.5, log=True, default=step),
        Axis("iterations", "Number of trees", "int", 10, 500, log=True, default=300),
        Axis("depth", "Depth of a tree", "int", 1, 10, default=6, most=16),
        Axis("l2_leaf_reg", "Penalty on large leaves", "float", 0.1, 100.0, log=True, default=3.0),
        Axis("rsm", columns, "float", 0.3, 1.0, default=1.0, least=0.01, most=1),
    )


CATBOOST = Model.of_sklearn(  # of symmetric trees (Prokhorenkova et al. 2018)
    ("catboost.CatBoostClassifier", "catboost.CatBoostRegressor"),
    _catboost_space,
    lambda seed: {
        "random_seed": seed,
        "thread_count": 1,
        "verbose": False,
        "allow_writing_files": False,
    },
    lambda task, recipe: (
        on_standard_target(recipe) if Task(task).has_numbers else _number_classes(recipe)
    ),
    name="catboost",
    title="CatBoost",
    noun="CatBoost",
    good_for="Gradient boosting of symmetric trees; good as it is, also on some hundred rows.",
    cost="The slowest of the boosting libraries, above all with many classes.",
    takes_sparse=False,  # what is kept of it is a model of scikit-learn's that does not either
    starts=({"iterations": 300, "learning_rate": 0.1, "depth": 4},),
    complexity=6,
    dearer=("iterations",),
    extra="catboost",
    class_weights=True,
    warns=row_count_warning(fewest=200),
)
