"""The guidance: what is recommended for which data and why, how long it takes, what it can show."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from dataclasses import replace
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from run_events import tune_here as tune

from core.datasets.dataset_summary import ClassCount, ColumnSummary, DatasetSummary
from core.datasets.reading import read_dataset
from core.datasets.samples import SAMPLES
from core.datasets.summary import summarize
from core.datasets.task import Task
from core.datasets.units import Units, single_rows
from core.errors import UnusableError
from core.estimators.facts import ModelingFacts, count_word
from core.estimators.multi_model import selectable_models
from core.estimators.optional_parts import is_installed
from core.estimators.registry import MODELS
from core.evaluation.power import smallest_gain
from core.export.finished_run import finished_run
from core.extras import install_command
from core.tuning.candidate_models import minutes_for
from core.tuning.guidance.advice import advise
from core.tuning.guidance.column_encodings import column_encodings, report_on
from core.tuning.guidance.forecast import estimate, extrapolate_seconds, power_text
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import read_data
from core.tuning.runs.run_folder import RunFolder
from core.tuning.strategies.registry import STRATEGIES


def summary(rows=270, features=13, classes=2, **more):
    """The part of a dataset's summary that the advice reads."""
    names = [f"x{i}" for i in range(min(features, 300))]
    return DatasetSummary(**{
        "name": "a.csv",
        "target": "y",
        "rows": rows,
        "features": features,
        "task": {0: Task.REGRESSION, 2: Task.BINARY}.get(classes, Task.MULTICLASS),
        "classes": [ClassCount(str(i), rows // classes) for i in range(classes)],
        "columns": [ColumnSummary(name, "feature", "number", distinct=rows) for name in names],
        "format": "csv",
        "prefixes": {"other": names},
        **more,
    })  # fmt: skip


def first(advice):
    """The first single model, its reason, the recommended strategy, its reason and groups."""
    model = next(entry for entry in advice["models"] if entry["name"] != "auto")
    strategy = advice["strategies"][model["name"]][0]
    (recommended,) = [entry["name"] for entry in advice["models"] if entry["recommended"]]
    assert recommended in ("auto", model["name"])
    assert strategy["recommended"]
    return model["name"], model["reason"], strategy["name"], strategy["reason"], strategy["groups"]


@pytest.mark.parametrize("given", [{}, {"classes": 0}, {"rows": 20_000}, {"features": 400}])
def test_tables_are_tuned_by_several_models_unless_they_have_few_rows(given):
    advice = advise(summary(**given))
    best = advice["models"][0]
    assert (best["name"], best["recommended"]) == ("auto", True)
    assert f"{given.get('rows', 270):,} rows" in best["reason"]
    races = {m for m, own in advice["strategies"].items() if any(s["name"] == "race" for s in own)}
    assert races == {"auto"}
    few = {entry["name"]: entry for entry in advise(summary(rows=12))["models"]}
    assert not few["auto"]["recommended"]


def test_what_is_tuned_together_is_listed_with_what_is_not():
    models = {one["name"]: one for one in advise(summary())["models"]}
    auto, competing = models["auto"], selectable_models(MODELS, "binary")
    assert set(auto["tries"]) == {MODELS[name].title for name in competing}
    lacking = [name for name, one in models.items() if one["install"] and MODELS[name].competes]
    assert [one["title"] for one in auto["lacking"]] == [MODELS[name].title for name in lacking]
    assert [one["extra"] for one in auto["lacking"]] == [MODELS[name].extra for name in lacking]
    assert not models["svm"]["tries"]
    wide = advise(summary(rows=100_000, features=5000, format="libsvm", columns=[]))["models"]
    sparse = next(one for one in wide if one["name"] == "auto")["tries"]
    assert set(sparse) == {MODELS[n].title for n in competing if MODELS[n].takes_sparse}


def test_reasons_for_and_against_a_model_are_told_apart():
    models = {one["name"]: one for one in advise(summary(rows=60_000))["models"]}
    assert models["boosting"]["suits"]
    assert models["svm"]["reason"]
    assert not models["svm"]["suits"]


@pytest.mark.parametrize(
    ("rows", "features", "classes"), [(270, 13, 2), (20_000, 40, 0), (9000, 30, 9)]
)
def test_the_minutes_of_several_models_are_those_that_a_run_takes(rows, features, classes):
    strategies = advise(summary(rows, features, classes))["strategies"]
    (race,) = strategies["auto"]
    assert race["default_minutes"] == minutes_for(rows, features, classes)
    assert {strategy["default_minutes"] for strategy in strategies["forest"]} == {None}


COLUMNS = [
    ColumnSummary("x0", "feature", "number", distinct=270),
    ColumnSummary("town", "feature", "category", distinct=9),
    ColumnSummary("y", "target", "category", distinct=3),
]
NAMES = [f"x{i}" for i in range(12)]
PREFIXES = {"blood": NAMES[:5], "home": NAMES[5:10], "other": NAMES[10:]}
ADVISED = {
    "a small table, a model that can be read": (
        {}, ("logistic", "loo", "single"),
        ("270 rows, 13 columns, two classes: ", "every weight can be read"),
        "13 weights for 270 training rows",
    ),
    "a number to predict, linear regression": (
        {"classes": 0}, ("linear", "evidence", "single"),
        ("270 rows, 13 columns, a number to predict: ",),
        "13 weights for 270 training rows, and a number to predict: ",
    ),
    "a middle-sized table, boosting and a Gaussian process": (
        {"rows": 4177, "features": 8, "classes": 0}, ("boosting", "gp", "single"),
        ("4,177 rows, 8 columns",), "Four settings to tune: ",
    ),
    "many classes, a forest": (
        {"rows": 15_000, "features": 16, "classes": 26}, ("forest", "gp", "single"), (), "",
    ),
    "very many rows, a linear model": (
        {"rows": 1_000_000, "features": 30}, ("logistic", "loo", "single"), ("1,000,000 rows",), "",
    ),
    "more weights than rows, a linear model": (
        {"rows": 100, "features": 500}, ("logistic", "loo", "single"),
        ("500 weights for 100 training rows",), "500 weights for 100 training rows",
    ),
    "a second file, all rows for training": (
        {"test_rows": 90}, ("logistic", "loo", "single"), (), "13 weights for 270 training rows",
    ),
    "classes and categories, (1 number + 9 towns) × 3 weights": (
        {"features": 2, "classes": 3, "columns": COLUMNS}, ("logistic", "loo", "single"), (),
        "30 weights",
    ),
    "groups by name, a penalty each": (
        {"features": 12, "prefixes": PREFIXES}, ("logistic", "loo", "prefix"),
        ("two groups (blood, home)",), "in 2 groups",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ADVISED)
def test_what_is_recommended_and_why(name):
    given, expected, words, of_strategy = ADVISED[name]
    model, reason, strategy, why, groups = first(advise(summary(**given)))
    assert (model, strategy, groups) == expected
    assert all(word in reason for word in words)
    assert of_strategy in why


@pytest.mark.parametrize(
    "prefixes",
    [
        {"blood": "abc", "other": "d"},  # a single group
        {"a": "ab", "b": "cd"},  # too small to say anything
        {"a": "abc", "b": "def", "other": "g" * 20},  # most unnamed
    ],
)
def test_few_named_columns_make_no_groups(prefixes):
    features = sum(map(len, prefixes.values()))
    lists = {name: list(columns) for name, columns in prefixes.items()}
    assert first(advise(summary(features=features, prefixes=lists)))[4] == "single"


def test_wide_sparse_files_stay_sparse():
    advice = advise(summary(20_000, 50_000, 2, format="libsvm"))
    model, reason, _, _, _ = first(advice)
    assert model == "logistic"
    assert "never fills them in" in reason
    boosting = next(entry for entry in advice["models"] if entry["name"] == "boosting")
    assert not boosting["fits_task"]
    assert "8 GB" in boosting["reason"]
    assert "boosting" not in advice["strategies"]


@pytest.mark.parametrize("classes", [0, 2, 5])
def test_only_fitting_models_are_offered_and_penalties_only_on_a_loss(classes):
    given = summary(classes=classes)
    advice = advise(given)
    assert {entry["name"] for entry in advice["models"]} == set(MODELS)
    for entry in advice["models"]:
        name = entry["name"]
        usable = not MODELS[name].extra or is_installed(MODELS[name].extra)
        assert entry["fits_task"] == (given["task"] in MODELS[name].tasks and usable)
        assert entry["fits_task"] or entry["reason"]
        assert (name in advice["strategies"]) == entry["fits_task"]
    for name, offered in advice["strategies"].items():
        kinds = {strategy["kind"] for strategy in offered}
        assert ("penalties" in kinds) == (given["task"] in MODELS[name].loss)
        assert [strategy["recommended"] for strategy in offered].count(True) == 1
        assert all(strategy["reason"] for strategy in offered if strategy["recommended"])


def test_no_grid_is_offered_over_thirty_settings():
    strategies = advise(summary())["strategies"]
    grids = {model for model, own in strategies.items() if any(s["name"] == "grid" for s in own)}
    assert grids == set(strategies) - {"vote7", "auto"}
    best = strategies["vote7"][0]
    assert (best["name"], best["recommended"]) == ("gp", True)
    assert "30 settings to tune" in best["reason"]


def test_cma_es_is_kept_from_choices_and_single_numbers():
    strategies = advise(summary())["strategies"]
    offered = {m for m, own in strategies.items() if any(s["name"] == "cma-es" for s in own)}
    by_extra = {
        "dlgm": "deep",
        "lightgbm": "lightgbm",
        "xgboost": "xgboost",
        "catboost": "catboost",
    }
    installed = {name for name, part in by_extra.items() if is_installed(part)}
    assert offered == {"logistic-l1l2", "elastic-net", "svm", "boosting", "mlp"} | installed


def deep(given):
    return next(entry for entry in advise(given)["models"] if entry["name"] == "dlgm")


def test_a_model_whose_packages_are_missing_is_told_with_what_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    entry = deep(summary(classes=5))
    assert not entry["fits_task"]
    assert "jax" in entry["reason"]
    assert (entry["needs"], entry["install"]) == ("jax", install_command("deep"))
    assert "dlgm" not in advise(summary(classes=5))["strategies"]
    assert deep(summary(classes=0))["install"] == ""  # it would be of no use there


def test_deep_models_warn_of_few_rows_and_of_long_trials_and_are_never_recommended(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", ModuleType("jax"))
    sys.modules["jax"].__spec__ = ModuleSpec("jax", None)
    few, some, many = (deep(summary(rows, 61, 10)) for rows in (250, 2000, 50_000))
    assert few["reason"].startswith("250 rows")
    assert some["reason"] == ""
    assert "50,000 rows of 61 columns" in many["reason"]
    assert all(one["fits_task"] and not one["recommended"] for one in (few, some, many))


BY_SAMPLE = {
    "groups": ("logistic", "loo", "prefix"),
    "molecules": ("rna", "mm", "column"),
    "tags": ("crf", "gradient", "column"),
}


@pytest.mark.parametrize("name", list(SAMPLES))
def test_every_sample_gets_advice(name):
    advice = advise(summarize(read_dataset(f"sample:{name}")))
    model, reason, strategy, _, groups = first(advice)
    assert model in MODELS
    assert reason.endswith(".")
    assert (model, strategy, groups) == BY_SAMPLE.get(name, (model, strategy, groups))
    if name in ("molecules", "tags"):  # on structures the evidence costs hundreds of fits
        (offered,) = advice["strategies"].values()
        costs = {strategy["name"]: strategy["costs"] for strategy in offered}
        assert costs["evidence"].startswith("Hundreds of fits")
        assert "dozens of fits" in costs["gradient"]


@pytest.mark.slow
def test_the_recommended_learner_does_no_worse_than_the_other():
    """Mean test score over two splits, of prices: there MM shrinks everything to nothing."""
    data = DataPlan("sample:prices")
    dataset = read_dataset(data.file)
    model, _, recommended, _, _ = first(advise(summarize(dataset)))
    score = {}
    for strategy in ("mm", "evidence"):
        ends = [list(tune(Plan(data, model, strategy, seed=s), dataset))[-1] for s in range(2)]
        score[strategy] = sum(end.results["test"]["r2"] for end in ends) / 2
    assert score[recommended] >= max(score.values()) - 0.01, score


def test_real_files(shared_data):
    advised = [
        first(advise(summarize(read_dataset(str(shared_data / name)))))[0]
        for name in ("heart.csv", "letter.scale.libsvm")
    ]
    assert advised == ["logistic", "forest"]


def test_numbers_in_words():
    assert [count_word(count) for count in (2, 10, 11, 1200)] == ["two", "ten", "11", "1,200"]


def test_the_models_are_described_without_importing_scikit_learn():
    code = "import sys, core.estimators.registry; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(("rows", "test_rows"), [(500, 0), (50_000, 0), (500, 400)])
def test_sequences_are_tuned_by_the_gradient_however_many_tokens_there_are(rows, test_rows):
    words = ColumnSummary("word", "feature", "category", distinct=100)
    given = summary(rows, 1, 5, task=Task.SEQUENCE, columns=[words], test_rows=test_rows)
    model, _, strategy, why, groups = first(advise(given))
    assert (model, strategy, groups) == ("crf", "gradient", "column")
    training = rows if test_rows else round(0.7 * rows)
    assert f"530 weights for {training:,} training tokens" in why


# The budget is chosen beside the reason, which must hold for any number of trials and minutes.
BUDGET = re.compile(
    r"([\d,]+|one|two|eleven|many|more|hundreds of|few|fewer) trials?\b|\b(hour|minute)s?\b"
    r"|\bfar fewer\b|\bat once\b"
)


def facts():
    sizes = itertools.product((30, 300, 3000, 300_000), (1, 13, 500), (0, 2, 7))
    for rows, columns, classes in sizes:
        task = {0: "regression", 2: "binary"}.get(classes, "multiclass")
        for groups in ((), ("blood", "age")):
            yield ModelingFacts(
                task, rows, columns, columns, classes, int(0.7 * rows), rows, False, groups
            )
    for task in ("sequence", "structure", "topics"):
        yield ModelingFacts(task, 500, 9, 9, 5, 400, 400, False, (), items="500 items", words=900)


def test_no_reason_contradicts_a_budget():
    reasons = set()
    for fact in facts():
        for model in MODELS.values():
            if fact.task in model.tasks:
                space = model.space_of(fact.task, rare=fact.rare)
                said = [strategy.suggests(fact, space) for strategy in STRATEGIES.values()]
                reasons |= {
                    each.reason for each in [model.suggests(fact), *said] if each is not None
                }
    assert len(reasons) > 20
    assert BUDGET.search("A grid of five values each would need 25 trials.")
    assert [reason for reason in reasons if BUDGET.search(reason)] == []


class Machine:
    """Does work whose cost is a known function of the size, on a clock of its own."""

    def __init__(self, cost):
        self.cost, self.now, self.largest = cost, 0.0, 0

    def run(self, size):
        self.now += self.cost(size)
        self.largest = max(self.largest, size)

    def clock(self):
        return self.now


@pytest.mark.parametrize(
    "cost",
    [lambda n: 2e-6 * n, lambda n: 1e-8 * n**2, lambda n: 0.02 + 3e-6 * n, lambda n: 0.05],
    ids=["linear", "quadratic", "fixed and linear", "fixed"],
)
def test_known_growths_are_continued(cost):
    machine = Machine(cost)
    seconds = extrapolate_seconds(machine.run, 20_000, 1_000_000, machine.clock)
    assert seconds == pytest.approx(cost(1_000_000), rel=0.02)


@pytest.mark.parametrize(("each", "rows", "timed"), [(1e-3, 20_000, 200), (1e-5, 150, 150)])
def test_slow_work_is_not_repeated_on_more_rows_and_small_data_timed_whole(each, rows, timed):
    machine = Machine(lambda n: each * n)
    assert extrapolate_seconds(machine.run, rows, rows, machine.clock) == pytest.approx(each * rows)
    assert machine.largest == timed
    assert machine.now < 0.5


def plan(**more):
    return Plan(DataPlan("sample:iris"), **{"model": "svm", "strategy": "random", **more})


def test_trials_cost_folds_and_add_up(iris):
    told = estimate(plan(trials=30), iris)
    assert told["trials"] == 30
    assert told["seconds"] >= 30 * told["seconds_per_trial"] > 0
    assert told["sentence"].endswith(", 30 trials")
    assert "45 test rows" in told["power"]
    assert not told["values"]


def test_minutes_bound_the_time_and_tell_the_trials(iris):
    told = estimate(plan(minutes=2), iris)
    assert told["seconds"] <= 120
    assert told["trials"] == int(120 / told["seconds_per_trial"])
    assert estimate(plan(minutes=2, trials=3), iris)["trials"] == 3


def test_penalty_learners_need_no_trials_and_impossible_plans_are_refused(iris):
    told = estimate(plan(model="logistic", strategy="mm"), iris)
    assert told["trials"] == 0
    assert told["sentence"].endswith("no trials needed")
    with pytest.raises(UnusableError):
        estimate(plan(model="linear"), iris)


def test_a_rare_class_does_not_disturb_the_timing():
    assert estimate(plan(model="boosting"), read_dataset("sample:clinic"))["seconds"] > 0


def test_few_rows_are_timed_with_the_folds_of_a_calibration(tmp_path):
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 2)), columns=["a", "b"])
    table["y"] = ["no"] * 44 + ["yes"] * 6
    table.to_csv(tmp_path / "few.csv", index=False)
    data = DataPlan(str(tmp_path / "few.csv"), target="y")
    costs = {"no": 1.0, "yes": 5.0}
    assert estimate(Plan(data, "svm", "gp", costs=costs), read_data(data)).seconds > 0


def test_a_grid_tells_its_values_under_their_labels(iris):
    told = estimate(plan(strategy="grid", options={"points": 3}), iris)
    space = {axis.label: axis for axis in MODELS["svm"].space("multiclass")}
    assert list(told["values"]) == list(space)
    for name, values in told["values"].items():
        assert len(values) == 3
        assert values == sorted(values)
        assert space[name].low <= values[0] <= values[-1] <= space[name].high
    assert told["settings"] == 3 ** len(space)


class Epochs(Machine):
    """Compiles for 3 s for every number of rows, then takes a time for every row and epoch."""

    def __init__(self):
        super().__init__(lambda rows: 0.0)
        self.epochs, self.compiled = 40, set()

    def get_params(self):
        return {"epochs": self.epochs}

    def set_params(self, epochs=40):
        self.epochs = epochs
        return self

    def fit(self, X, y):
        self.now += 0.0 if len(X) in self.compiled else 3.0
        self.compiled.add(len(X))
        self.now += 0.05 + 1e-3 * len(X) * self.epochs
        self.epochs = 40


def test_a_model_that_counts_epochs_is_timed_without_what_is_compiled_once(monkeypatch, iris):
    machine = Epochs()
    slow = replace(MODELS["mlp"], build=lambda task, setting, seed: machine)
    monkeypatch.setitem(MODELS.own_entries, "mlp", slow)
    monkeypatch.setattr("core.tuning.guidance.forecast.time.perf_counter", machine.clock)
    told = estimate(plan(model="mlp", trials=10), iris)
    fit_rows = int(len(iris.target) * 0.7) * 4 // 5
    expected = 5 * (0.05 + 1e-3 * fit_rows * 40)
    assert told["seconds_per_trial"] == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(("sample", "model"), [("tags", "crf"), ("molecules", "rna")])
def test_learners_of_sequences_and_molecules_are_foreseen_by_what_they_take(
    sample, model, monkeypatch
):
    monkeypatch.setattr(
        "core.tuning.guidance.forecast._measure_seconds", lambda problem, rows: (0.0, 1.0)
    )
    data = DataPlan(f"sample:{sample}")
    dataset = read_dataset(data.file)

    def seconds(strategy, **options):
        given = Plan(data, model, strategy, groups="column", options=options)
        return estimate(given, dataset)["seconds"]

    mm, evidence = seconds("mm"), seconds("evidence")
    once, turns = (seconds("gradient", validation=v) for v in ("holdout", "folds"))
    assert mm < once < turns < evidence
    assert evidence >= 100
    # Many sequences of few kinds, few molecules of fifteen.
    assert seconds("gradient") == (once if sample == "tags" else turns)


def points(sentence):
    return float(re.search(r"some ([\d.]+) point", sentence)[1])


@pytest.mark.parametrize(
    ("metric", "rows", "folds", "words"),
    [
        ("accuracy", 60, 0, ("60 test rows", "13 points", "80 % power", "loses no row")),
        ("accuracy", 10_000, 0, ("disagree on one row in 10",)),
        ("accuracy", 300, 5, ("300 rows tested by 5-fold cross-validation",)),
        ("accuracy", 4, 0, ("hardly any gain",)),
        ("r2", 200, 0, ("points of R²",)),
        ("r2", 4, 0, ("hardly any gain",)),
    ],
)
def test_what_the_rows_can_show_is_said_with_what_is_assumed(metric, rows, folds, words):
    said = power_text(metric, single_rows(rows), folds=folds)
    assert all(word in said for word in words)


def test_more_rows_show_smaller_gains_and_rows_of_few_units_larger_ones():
    many, single, folds, patients, days = (
        points(power_text("accuracy", units, folds=count))
        for units, count in (
            (single_rows(10_000), 0),
            (single_rows(300), 0),
            (single_rows(300), 5),
            (Units(np.arange(300) // 10, "patient"), 0),
            (Units(np.arange(300), "moment", is_time=True), 0),
        )
    )
    assert many == pytest.approx(100 * smallest_gain(10_000), abs=0.1)
    assert many < single < folds < days < patients
    assert power_text("log_loss", single_rows(200)) == power_text("f1", single_rows(200)) == ""
    few = power_text("accuracy", Units(np.arange(300) // 75, "patient"))
    assert few == "With 4 test patients, hardly any gain can be shown; more patients would help."


@pytest.fixture
def data(tmp_path: Path) -> DataPlan:
    rng = np.random.default_rng(0)
    shop = rng.integers(0, 60, 300)
    age = np.where(rng.random(300) < 0.1, np.nan, rng.normal(40, 9, 300).round(1))
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 300), unit="D")
    table = pd.DataFrame({"shop": [f"s{s}" for s in shop], "age": age, "day": day.date})
    table["y"] = rng.normal(size=60)[shop] + rng.normal(size=300)
    table.loc[5:7, "y"] = np.nan  # rows that are set aside
    table.to_csv(tmp_path / "table.csv", index=False)
    return DataPlan(str(tmp_path / "table.csv"), target="y")


@pytest.mark.parametrize(("model", "strategy"), [("linear", "random"), ("auto", "race")])
def test_the_run_was_given_what_was_announced(
    data: DataPlan, tmp_path: Path, model: str, strategy: str
) -> None:
    announced = column_encodings(read_data(data), model)
    assert list(announced) == ["shop", "age", "day"]
    folder = RunFolder.create(Plan(data, model, strategy, trials=1), path=tmp_path / "run")
    list(tune(folder.plan, read_data(data), folder=folder))
    folder.close()
    said = finished_run(folder).takeaway.encodings
    assert said == [f"“{name}”: {words}." for name, words in announced.items()]
    if model == "auto":  # what suits these data
        report = report_on(data)
        assert {c.name: c.encoding for c in report.columns if c.encoding} == announced


@pytest.mark.parametrize(("classes", "words"), [(2, "hardly needs tuning"), (9, "so many classes")])
def test_a_forest_is_praised_for_what_the_table_has(classes, words):
    facts = ModelingFacts(Task.MULTICLASS, 5000, 8, 8, classes, 3500, 3500, False, ())
    suggestion = MODELS["forest"].suggests(facts)
    assert words in suggestion.reason
    assert ("classes" in suggestion.reason.partition(": ")[2]) is (classes > 2)
