"""The forecast: known growths are continued, plans estimated, and what can be shown is said."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from core.datasets.reading import read_dataset
from core.errors import UnusableError
from core.estimators.registry import MODELS
from core.evaluation.power import smallest_gain
from core.tuning.guidance.forecast import estimate, extrapolate_seconds, power_text
from core.tuning.plan import DataPlan, Plan


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
    found = extrapolate_seconds(machine.run, 20_000, 1_000_000, machine.clock)
    assert found == pytest.approx(cost(1_000_000), rel=0.02)


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
    assert told["power"].startswith("With 45 test rows, only gains above some")
    assert estimate(plan(trials=1), iris)["sentence"].endswith(", 1 trial")


def test_minutes_bound_the_time_and_tell_the_trials(iris):
    told = estimate(plan(minutes=2), iris)
    assert told["seconds"] <= 120
    assert told["trials"] == int(120 / told["seconds_per_trial"])
    both = estimate(plan(minutes=2, trials=3), iris)
    assert both["trials"] == 3


def test_penalty_learners_need_no_trials(iris):
    told = estimate(plan(model="logistic", strategy="mm"), iris)
    assert told["trials"] == 0
    assert told["sentence"].endswith("no trials needed")


def test_impossible_plans_are_refused(iris):
    with pytest.raises(UnusableError):
        estimate(plan(model="linear"), iris)


def test_a_rare_class_does_not_disturb_the_timing():
    assert estimate(plan(model="boosting"), read_dataset("sample:clinic"))["seconds"] > 0


def test_a_grid_tells_its_values_under_their_labels_and_no_other_strategy_does(iris):
    told = estimate(plan(model="svm", strategy="grid", options={"points": 3}), iris)
    space = {axis.label: axis for axis in MODELS["svm"].space("multiclass")}
    assert list(told["values"]) == list(space)
    combined = 1
    for name, values in told["values"].items():
        axis = space[name]
        combined *= len(values)
        if axis.kind == "choice":
            assert values == list(axis.choices)
        else:
            assert values == sorted(values)
            assert len(values) == 3
            assert all(axis.low <= value <= axis.high for value in values)
    assert told["settings"] == combined
    assert not estimate(plan(trials=3), iris)["values"]


class Epochs(Machine):
    """Compiles once for every number of rows, then takes a time for every row and epoch."""

    def __init__(self, compiling, fixed, each):
        super().__init__(lambda rows: 0.0)
        self.compiling, self.fixed, self.each = compiling, fixed, each
        self.epochs, self.compiled = 40, set()

    def get_params(self):
        return {"epochs": self.epochs}

    def set_params(self, epochs=40):
        self.epochs = epochs
        return self

    def fit(self, X, y):
        self.now += 0.0 if len(X) in self.compiled else self.compiling
        self.compiled.add(len(X))
        self.now += self.fixed + self.each * len(X) * self.epochs
        self.epochs = 40


def test_a_model_that_counts_epochs_is_timed_without_what_is_compiled_once(monkeypatch, iris):
    machine = Epochs(compiling=3.0, fixed=0.05, each=1e-3)
    slow = replace(MODELS["mlp"], build=lambda task, setting, seed: machine)
    monkeypatch.setitem(MODELS.own_entries, "mlp", slow)
    monkeypatch.setattr("core.tuning.guidance.forecast.time.perf_counter", machine.clock)
    told = estimate(plan(model="mlp", strategy="random", trials=10), iris)
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
    said = power_text(metric, rows, folds=folds)
    assert all(word in said for word in words)


def test_more_rows_show_smaller_gains_and_cross_validation_has_an_interval_of_its_own():
    many = points(power_text("accuracy", 10_000))
    assert many == pytest.approx(100 * smallest_gain(10_000), abs=0.1)
    assert points(power_text("accuracy", 300, folds=5)) > points(power_text("accuracy", 300)) > many
    assert power_text("log_loss", 200) == power_text("f1", 200) == ""
