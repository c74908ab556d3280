"""Guidance: which model and strategy to take for this data, and why, with the data's numbers.

| symbol | code | meaning |
| --- | --- | --- |
| m | ``training`` | rows that tuning will see |
| p | ``inputs`` | columns after categories are spread over one column a value |
| K | ``classes`` | classes; 0 for a regression |
| n | ``weights`` | penalized weights of a linear model: p, or p K with more than two classes |

It works on the plain summary of a dataset, so that it needs neither the data nor scikit-learn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from core.datasets.groups import OTHER
from core.estimators.class_weights import CLASS_WEIGHT
from core.estimators.lda.model import MINIBATCH
from core.estimators.model import Model
from core.estimators.optional_parts import OPTIONAL_PARTS, is_installed
from core.estimators.registry import MODELS
from core.penalties.recommendation import recommend_update
from core.space import Axis
from core.tuning.guidance.deep import warning_of_deep
from core.tuning.guidance.forecast import estimate
from core.tuning.guidance.structured import best_structured_learner, structured_costs
from core.tuning.results.evaluation import FEW_ROWS, TABLES
from core.tuning.scores.imbalance import rare_class

__all__ = ["advise", "estimate"]

_TRAINING_SHARE = 0.7
_ENOUGH_ROWS = 1000  # for flexible models to beat a linear one
_MOST_BOOSTED = 2e6  # rows × columns × trees a step: about two seconds a fit, seven minutes a run
_MOST_GROWN = 1e6  # rows × columns of a forest, likewise
_MOST_KERNEL_ROWS = 20_000
_VERY_WIDE = 500  # columns of a sparse file that are better not filled in
_DENSE_LIMIT = 4e9  # bytes
_MOST_GRIDDED = 12  # settings: three values of each are half a million trials
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

_AVERAGE = "eb-hyp"

_LABELLED = ("sequence", "structure")  # whose penalties can be learned
_ONLY_FOR = {
    "sequence": "It labels the tokens of sequences.",
    "structure": "It folds RNA molecules.",
    "topics": "It finds the topics of texts.",
}


@dataclass(frozen=True)
class Facts:
    """What the advice rests on (symbols above), from the summary of a dataset."""

    task: str
    rows: int
    columns: int
    inputs: int
    classes: int
    training: int
    sparse: bool
    groups: tuple[str, ...]
    items: str = ""  # sequences, molecules or texts in words
    words: int = 0  # of documents, that the rules keep
    rare: bool = False  # whether a class is

    @property
    def weights(self) -> int:
        """Penalized weights of a linear model."""
        return self.inputs * (self.classes if self.classes > 2 else 1)

    @property
    def learning(self) -> int:
        """Rows that a penalty learner trains on: all where every row tests once."""
        few = self.rows < FEW_ROWS and self.task in TABLES
        return self.rows if few else self.training

    @property
    def trees(self) -> int:
        """Trees that boosting grows in a step."""
        return self.classes if self.classes > 2 else 1

    @property
    def sentence(self) -> str:
        """The data in a few words: "270 rows, 13 columns, two classes"."""
        if self.items:
            return self.items
        what = f"{in_words(self.classes)} classes" if self.classes else "a number to predict"
        columns = "1 column" if self.columns == 1 else f"{self.columns:,} columns"
        return f"{self.rows:,} rows, {columns}, {what}"


def in_words(count: int) -> str:
    """A small number as a word, a larger one in digits."""
    return _WORDS[count] if count < len(_WORDS) else f"{count:,}"


def advise(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Every model and its strategies, the recommended ones first.

    Args:
        summary: as `core.datasets.summary.summarize` gives it.

    Returns:
        ``models``: a list of {name, title, good_for, cost, recommended, reason, fits_task, needs,
        install}: the package that a model lacks and the command that brings it, "" for none;
        ``strategies``: {model: list of {name, title, kind, does, costs, shows, recommended,
        reason, options, default_trials, groups, remembers}}, where groups is the regularization
        groups that suit the data. Models that do not fit come last, with the reason, and without
        strategies.
    """
    facts = _facts(summary)
    best, why = _best_model(facts)
    models: list[dict[str, Any]] = []
    for name, model in MODELS.items():
        obstacle = _obstacle(model, facts)
        models.append(
            {
                "name": name,
                "title": model.title,
                "good_for": model.good_for,
                "cost": model.cost,
                "recommended": name == best and not obstacle,
                "reason": obstacle or (why if name == best else "") or _warning(name, facts),
                "fits_task": not obstacle,
                **_lacking(model, facts),
            }
        )
    models.sort(key=lambda entry: (entry["name"] != best, not entry["fits_task"]))
    fitting = [entry["name"] for entry in models if entry["fits_task"]]
    return {"models": models, "strategies": {n: _strategies(MODELS[n], facts) for n in fitting}}


def _facts(summary: Mapping[str, Any]) -> Facts:
    features = [column for column in summary["columns"] if column["role"] == "feature"]
    # Beyond the columns that the summary lists, each counts as a number.
    unlisted = max(0, summary["features"] - len(features))
    spread = sum(_inputs(column) for column in features)
    sparse = summary["format"] == "libsvm"
    share = 1.0 if summary["test_rows"] else _TRAINING_SHARE
    counts = {one["label"]: one["count"] for one in summary["classes"]}
    return Facts(
        task=summary["task"],
        rows=summary["rows"],
        columns=summary["features"],
        inputs=max(1, spread + unlisted),
        classes=len(summary["classes"]),
        training=max(1, round(summary["rows"] * share)),
        sparse=sparse and summary["features"] > _VERY_WIDE,
        groups=_groups(summary),
        items=summary.get("structured", {}).get("items", ""),
        words=summary.get("structured", {}).get("vocabulary", 0),
        rare=rare_class(summary["task"], counts) is not None,
    )


def _groups(summary: Mapping[str, Any]) -> tuple[str, ...]:
    """The groups that column names form, if they say something: most columns, a few in each."""
    named = {name: of for name, of in summary["prefixes"].items() if name != OTHER}
    covered = sum(len(columns) for columns in named.values())
    telling = len(named) > 1 and covered >= max(3 * len(named), summary["features"] / 2)
    return tuple(named) if telling else ()


def _inputs(column: Mapping[str, Any]) -> int:
    return max(1, column["distinct"]) if column["kind"] == "category" else 1


def _obstacle(model: Model, facts: Facts) -> str:
    """Why a model cannot be used here; "" if it can."""
    if facts.task not in model.tasks:
        if facts.task == "topics":
            return "It predicts, and here nothing is to be predicted."
        if facts.task in _ONLY_FOR or set(model.tasks) <= set(_ONLY_FOR):
            return _ONLY_FOR.get(model.tasks[0], "It takes every row by itself.")
        if facts.task == "regression":
            return "It tells classes apart, and here a number is to be predicted."
        return "It predicts numbers, and here classes are to be told apart."
    if facts.task == "topics":
        return _too_few_texts(facts)
    if needs := _lacking(model, facts)["needs"]:
        return f"It needs {needs}, which is not installed."
    if not model.takes_sparse and 8.0 * facts.rows * facts.inputs > _DENSE_LIMIT:
        need = 8e-9 * facts.rows * facts.inputs
        return f"It would need {need:,.0f} GB of memory for {facts.inputs:,} columns."
    return ""


def _too_few_texts(facts: Facts) -> str:
    """Why these are too few texts to find topics in; "" if they are enough."""
    if facts.training >= MINIBATCH:
        return ""
    return (
        f"It learns from {MINIBATCH} texts at a time, and here are {facts.training:,} to train on."
    )


def _lacking(model: Model, facts: Facts) -> dict[str, str]:
    """The package that a model would need for this task, and the command that brings it."""
    if facts.task not in model.tasks or not model.extra or is_installed(model.extra):
        return {"needs": "", "install": ""}
    part = OPTIONAL_PARTS[model.extra]
    return {"needs": part.modules[0], "install": part.command}


def _warning(name: str, facts: Facts) -> str:
    """What speaks against a model that would work; "" if nothing does."""
    if name == "dlgm":
        return warning_of_deep(facts.rows, facts.training, facts.inputs)
    if name in ("svm", "mlp") and facts.rows > _MOST_KERNEL_ROWS:
        return f"{facts.rows:,} rows are many for it: each trial takes minutes."
    if name in ("boosting", "mlp") and facts.rows < 300:
        return f"{facts.rows:,} rows are few for it."
    return ""


def _best_model(facts: Facts) -> tuple[str, str]:
    """The recommended model's name and the reason."""
    if facts.task == "sequence":
        neighbours = "a conditional random field knows which labels follow each other."
        return "crf", f"{facts.sentence}: {neighbours}"
    if facts.task == "structure":
        return "rna", f"{facts.sentence}: it learns base pairs and loops from known structures."
    if facts.task == "topics":
        kept = f"{facts.words:,} different words are kept, and it finds which come together."
        return "lda", f"{facts.items}: {kept}"
    linear = "linear" if facts.task == "regression" else "logistic"
    title = MODELS[linear].title.lower()
    if facts.sparse:
        why = f"mostly zeros, as in such files, suit a {title}, which never fills them in."
    elif facts.weights > facts.training:
        why = (
            f"with {facts.weights:,} weights for {facts.learning:,} training rows, a {title} with "
            "a learned penalty is safest; a flexible model would learn the rows by heart."
        )
    elif facts.groups and facts.rows < _ENOUGH_ROWS:
        named = ", ".join(facts.groups[:3]) + (", …" if len(facts.groups) > 3 else "")
        why = (
            f"the column names form {in_words(len(facts.groups))} groups ({named}), and a {title} "
            "can learn a penalty for each of them."
        )
    elif facts.rows < _ENOUGH_ROWS:
        why = f"a {title} has little to overfit here and every weight can be read."
    elif facts.rows * facts.inputs * facts.trees <= _MOST_BOOSTED:
        boosted = "enough for gradient boosting, often the most accurate on tables like this."
        return "boosting", f"{facts.sentence}: {boosted}"
    elif facts.rows * facts.inputs <= _MOST_GROWN:
        why = "a random forest copes with so many classes in less time than gradient boosting."
        return "forest", f"{facts.sentence}: {why}"
    else:
        why = (
            f"a {title} is tuned in minutes even so. Gradient boosting may be more accurate, but "
            "each of its trials takes long."
        )
    return linear, f"{facts.sentence}: {why}"


def _strategies(model: Model, facts: Facts) -> list[dict[str, Any]]:
    from core.tuning.strategies import STRATEGIES

    space = model.space_of(facts.task, rare=facts.rare)
    learned, structured = facts.task in model.loss, facts.task in _LABELLED
    best, why = _best_learner(facts) if learned else _best_sampler(space)
    if facts.task == "topics" and _AVERAGE in STRATEGIES:
        best, why = _AVERAGE, _best_average(facts)
    entries = [
        {
            "name": name,
            "title": strategy.title,
            "kind": strategy.kind,
            "does": strategy.does,
            "costs": structured_costs(name, strategy.costs) if structured else strategy.costs,
            "shows": strategy.shows,
            "recommended": name == best,
            "reason": why if name == best else "",
            "options": [asdict(option) for option in strategy.options],
            "default_trials": strategy.default_trials,
            "groups": _suiting_groups(strategy.kind, facts),
            "remembers": strategy.remembers,
        }
        for name, strategy in STRATEGIES.items()
        if (learned or strategy.kind == "trials")
        and (not strategy.tasks or facts.task in strategy.tasks)
        and not _useless(name, space)
    ]
    return sorted(entries, key=lambda entry: not entry["recommended"])


def _suiting_groups(kind: str, facts: Facts) -> str:
    if kind == "penalties" and facts.task in _ONLY_FOR:
        return "column"  # a group for every kind of parameter, as in the papers
    return "prefix" if kind == "penalties" and facts.groups else "single"


def _useless(strategy: str, space: tuple[Axis, ...]) -> bool:
    """Whether a strategy can do nothing with a space.

    CMA-ES needs two numbers and knows no choices; a grid over many settings never ends.
    """
    if strategy == "cma-es":
        # Nor does it get class weights (core.tuning.problem).
        own = [axis for axis in space if axis != CLASS_WEIGHT]
        return len(own) < 2 or any(axis.kind == "choice" for axis in own)
    return strategy == "grid" and len(space) > _MOST_GRIDDED


def _best_sampler(space: tuple[Axis, ...]) -> tuple[str, str]:
    count = len(space)
    need = f"would need {5**count:,} trials" if count <= _MOST_GRIDDED else "would never end"
    why = (
        f"{in_words(count).capitalize()} settings to tune. A grid of five values each {need}; a "
        "Gaussian process learns from every trial and needs far fewer."
    )
    return "gp", why


def _best_average(facts: Facts) -> str:
    return (
        f"No number of topics is the one right for {facts.rows:,} texts, many settings explain them"
        " about as well: an average over the best ones uses them all and puts no texts aside to"
        " choose one."
    )


def _best_learner(facts: Facts) -> tuple[str, str]:
    """The penalty learner, from the task and from how many weights there are for the rows."""
    if facts.task in _ONLY_FOR:
        weights = facts.inputs * facts.classes + facts.classes * (facts.classes + 1)
        return best_structured_learner(facts.task, weights, facts.training)
    classes = 0 if facts.task == "regression" else facts.classes
    groups = max(1, len(facts.groups))
    chosen = recommend_update(facts.weights, facts.learning, classes, groups=groups)
    return chosen.strategy, chosen.reason
