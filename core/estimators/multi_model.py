"""Several models tuned as one: the model is a value of the setting."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from core.datasets.task import TABLE_TASKS, Task
from core.estimators.facts import ModelingFacts, Suggestion
from core.estimators.model import FitSize, Model
from core.estimators.optional_parts import is_installed
from core.space import Axis, Setting, default_setting

SEVERAL = "auto"  # on the command line
MODEL = "model"  # the key of a setting that says which model it is of
_BOUNDED_IMPORT = "from core.estimators.bounded_regressor import bounded"
# With fewer a choice between models would be chance.
_MIN_ROWS = 20


def combined_setting(name: str, setting: Mapping[str, Any]) -> Setting:
    """The setting of a model as one of several models."""
    return {MODEL: name, **setting}


def split_model_setting(setting: Mapping[str, Any]) -> tuple[str, Setting]:
    """The model that a combined setting belongs to, and that model's own setting."""
    return str(setting[MODEL]), {name: value for name, value in setting.items() if name != MODEL}


def selectable_models(models: Mapping[str, Model], task: str) -> tuple[str, ...]:
    """The installed models of tables that are tuned together."""
    return tuple(
        name
        for name, model in models.items()
        if name != SEVERAL
        and model.competes
        and task in model.tasks
        and (not model.extra or is_installed(model.extra))
    )


def with_own_columns(estimator: Any, columns: slice) -> Any:
    """An unfitted pipeline of an estimator that takes only these of the prepared columns."""
    # Several models share one preparation: a category of many levels has the means of the target
    # and a column a level there, of which every model takes one.
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline

    own = ColumnTransformer([("own", "passthrough", columns)], sparse_threshold=1.0)
    return Pipeline([("columns", own), ("model", estimator)])


def without_own_columns(model: Any) -> tuple[Any, slice]:
    """The estimator inside, and its columns."""
    from sklearn.pipeline import Pipeline

    if not isinstance(model, Pipeline) or list(model.named_steps) != ["columns", "model"]:
        return model, slice(None)
    return model[-1], model[0].transformers[0][2]


def combined_model(models: Callable[[], Mapping[str, Model]]) -> Model:
    """The model that stands for all others of the registry that `models` returns."""

    def model_space(task: str) -> tuple[Axis, ...]:
        names = selectable_models(models(), task)
        return (Axis(MODEL, "Model", "choice", choices=names, default=names[0]),)

    def model_and_setting(
        task: str, setting: Setting, probabilities: bool
    ) -> tuple[Model, Setting]:
        name, model_setting = split_model_setting(setting)
        # Asked for at each call: an extension may have come since this entry was made.
        model = models()[name]
        complete_setting = {**default_setting(model.space(task)), **model_setting}
        return (model.probabilistic or model) if probabilities else model, complete_setting

    def build_bounded(
        task: str, setting: Setting, seed: int, *, probabilities: bool = False
    ) -> Any:
        model, model_setting = model_and_setting(task, setting, probabilities)
        estimator = model.build(task, model_setting, seed)
        if task != Task.REGRESSION:
            return estimator
        from core.estimators.bounded_regressor import bounded  # scikit-learn is slow to import

        return bounded(estimator)

    def script_bounded(
        task: str, setting: Setting, seed: int, *, probabilities: bool = False
    ) -> tuple[str, str]:
        model, model_setting = model_and_setting(task, setting, probabilities)
        imports, expression = model.script(task, model_setting, seed)
        if task != Task.REGRESSION:
            return imports, expression
        return f"{imports}\n{_BOUNDED_IMPORT}", f"bounded({expression})"

    def fit_bytes(size: FitSize, setting: Setting) -> float:
        name, model_setting = split_model_setting(setting)
        return models()[name].fit_bytes(size, model_setting)

    plain = Model(
        name=SEVERAL,
        title="Find the best model",
        noun="the best of several models",
        good_for="Tries all models in your minutes, and averages the best where that helps.",
        cost="As many minutes as you give; more of them find a better model.",
        tasks=TABLE_TASKS,
        space=model_space,
        build=build_bounded,
        loss={},
        takes_sparse=True,
        scaled=True,
        script=script_bounded,
        suggests=_suggests,
        fit_bytes=fit_bytes,
        competes=False,
    )
    build, script = (partial(make, probabilities=True) for make in (build_bounded, script_bounded))
    return replace(plain, probabilistic=replace(plain, build=build, script=script))


def _suggests(facts: ModelingFacts) -> Suggestion | None:
    if facts.rows < _MIN_ROWS:
        return None
    why = "which model suits them best shows only when several are tried."
    return Suggestion(10, f"{facts.sentence}: {why}")
