"""The six methods dataset by dataset: what they see, what is kept, ranks, quick tables."""

from __future__ import annotations

from dataclasses import replace
from zlib import crc32

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from core.estimators.registry import MODELS
from core.samplers.transfer.history import EarlierDataset, TuningHistory
from tests.reproduction import kept_work, yogatama_runs
from tests.reproduction import yogatama_tables as yogatama
from tests.reproduction.yogatama_datasets import StreamedDataset, available_datasets, split_dataset
from tests.reproduction.yogatama_runs import (
    METHODS,
    DatasetStep,
    Experiment,
    StepResult,
    TransferMethod,
    as_earlier_dataset,
    best_of_nearest,
    run_experiment,
    run_step,
)
from tests.reproduction.yogatama_tables import rank_methods, rank_text

pytestmark = pytest.mark.slow  # searches of models

MODEL = "logistic"
DATASETS = ("iris", "wine", "generated 8")


@pytest.fixture
def two_methods(monkeypatch):
    """Random and GP alone, in the place of all six."""
    two = {name: METHODS[name] for name in ("random", "gp")}
    monkeypatch.setattr(yogatama_runs, "METHODS", two)
    monkeypatch.setattr(yogatama, "METHODS", two)
    return two


@pytest.fixture(scope="module")
def arrivals():
    by_name = {source.name: source for source in available_datasets(None).sources}
    return tuple(StreamedDataset(by_name[name]) for name in DATASETS)


def experiment(arrivals, orders=2, trials=3):
    return Experiment("test", MODEL, arrivals, trials, orders, "mark")


class Spy(LogisticRegression):
    """Notes which rows it is fitted on and which it is asked about."""

    seen: list[tuple[str, int]] = []  # noqa: RUF012 - shared on purpose

    def fit(self, X, y):
        self.seen.append(("fit", id(X)))
        return super().fit(X, y)

    def predict(self, X):
        self.seen.append(("predict", id(X)))
        return super().predict(X)


def test_models_are_fitted_on_training_rows_and_the_test_rows_seen_once(arrivals, monkeypatch):
    spying = replace(MODELS[MODEL], build=lambda task, setting, seed: Spy(**setting, max_iter=1000))
    monkeypatch.setitem(MODELS.own_entries, "spy", spying)
    monkeypatch.setattr(Spy, "seen", [])
    data = split_dataset(arrivals[1])
    part = run_step(DatasetStep(arrivals[1], "spy", "random", (), 4, 0))
    assert Spy.seen == [
        *[("fit", id(data.train.X)), ("predict", id(data.development.X))] * 4,
        ("predict", id(data.test.X)),
    ]
    best = LogisticRegression(**part["settings"][int(np.argmax(part["scores"]))], max_iter=1000)
    best.fit(data.train.X, data.train.y)
    assert part["dev"] == max(part["scores"]) == best.score(data.development.X, data.development.y)
    assert part["test"] == best.score(data.test.X, data.test.y)


def test_a_setting_that_was_fitted_before_is_not_fitted_again(arrivals, monkeypatch):
    monkeypatch.setitem(
        MODELS.own_entries, "spy", replace(MODELS[MODEL], build=None)
    )  # cannot be fitted
    default = yogatama_runs.mark_of({"C": 1.0})
    part = run_step(DatasetStep(arrivals[0], "spy", "random", (), 1, 0, {default: (0.75, 0.5)}))
    assert part["scores"] == [0.75]
    assert (part["dev"], part["test"]) == (0.75, 0.5)


def test_a_fit_that_fails_is_a_trial_without_a_score(arrivals, monkeypatch):
    class Failing(LogisticRegression):
        def fit(self, X, y):
            raise ValueError("no such solver")

    failing = replace(MODELS[MODEL], build=lambda task, setting, seed: Failing())
    monkeypatch.setitem(MODELS.own_entries, "failing", failing)
    part = run_step(DatasetStep(arrivals[0], "failing", "gp", (), 3, 0))
    assert part["scores"] == [None] * 3
    assert (part["dev"], part["test"]) == (0.0, 0.0)
    assert as_earlier_dataset("iris", part).scores == ()


def test_methods_know_their_own_past_of_this_run_and_nothing_else(
    ended, arrivals, two_methods, monkeypatch
):
    steps = []

    def invented(step):
        steps.append(step)
        number = float(len(steps))  # tells every step's setting from all others
        return StepResult([1.0, 2.0, 3.0], [{"C": number}], [number], 0.0, 0.0, [0.0], 0.0)

    monkeypatch.setattr(yogatama_runs, "run_step", invented)
    kind = replace(METHODS["gp"].strategy, uses_history=True)
    monkeypatch.setattr(TransferMethod, "strategy", property(lambda self: kind))
    whole = experiment(arrivals)
    ended(run_experiment(whole, 0))
    assert len(steps) == 2 * 2 * 3
    number_of = {id(step): at for at, step in enumerate(steps, start=1)}
    for run in range(2):
        order = [arrival.name for arrival in whole.arrival_order(run)]
        for method in two_methods:
            mine = [s for s in steps if s.method == method]
            own = [s for s in mine if s.seed == crc32(f"{run}|{method}|{s.arrival.name}".encode())]
            assert [s.arrival.name for s in own] == order
            for at, step in enumerate(own):
                assert [one.id for one in step.past] == order[:at]
                numbers = [number_of[id(before)] for before in own[:at]]
                assert [one.scores for one in step.past] == [(float(n),) for n in numbers]
                assert [one.settings[0]["C"] for one in step.past] == numbers


def test_a_stopped_measurement_goes_on_and_gives_the_same(
    ended, arrivals, two_methods, folder, monkeypatch
):
    whole = experiment(arrivals)
    first = run_experiment(whole, 0)
    said = [next(first) for _ in range(8)]  # three first trials, the forecast, four steps
    first.close()
    assert "36 trials" in said[3]
    again, at_once = [], []
    monkeypatch.setattr(yogatama_runs, "run_step", lambda s: again.append(s) or run_step(s))
    resumed = ended(run_experiment(whole, 0))[1]
    assert len(again) == 12 - 4
    monkeypatch.setattr(kept_work, "kept_folder", lambda: folder / "anew")
    monkeypatch.setattr(yogatama_runs, "run_step", lambda s: at_once.append(s) or run_step(s))
    anew = ended(run_experiment(whole, 0))[1]
    assert len(at_once) == 12
    measured_parts = ("settings", "scores", "dev", "test", "statistics")
    assert resumed.keys() == anew.keys()
    for key, part in anew.items():
        assert {name: part[name] for name in measured_parts} == {
            name: resumed[key][name] for name in measured_parts
        }
    assert len(ended(run_experiment(whole, 0))[0]) == 1  # nothing left but the forecast


def test_quick_tables_from_end_to_end(two_methods, monkeypatch):
    monkeypatch.setattr(yogatama, "OURS", "gp")
    monkeypatch.setattr(yogatama, "PEERS", ("random",))
    monkeypatch.setattr(yogatama, "LOGISTIC", MODEL)
    monkeypatch.setattr(yogatama, "QUICK_DATASETS", 2)
    rows = list(yogatama.table3_rows(None, True, (MODEL,), processes=0))
    table = [row for row in rows if not isinstance(row, str) and "method" in row]
    assert [row["method"] for row in table] == ["random", "gp"]
    assert sum(row["dev"] for row in table) == pytest.approx(3.0, abs=0.002)
    said = [row["in words"] for row in rows if "in words" in row and not isinstance(row, str)]
    assert any("On test data gp comes" in sentence for sentence in said)
    assert any("samples and generated" in sentence for sentence in said)
    assert said[-1].startswith("Quick")

    rows = list(yogatama.table2_rows(None, True, processes=0))
    lacking = [row for row in rows if not isinstance(row, str) and "dataset" in row]
    assert len(lacking) == 2
    assert all(row["its copies lack"].count("% of the") == 2 for row in lacking)

    rows = list(yogatama.figure3_rows(None, True, (MODEL,), processes=0))
    seconds = [row for row in rows if not isinstance(row, str) and "CPU seconds" in row]
    assert [row["datasets"] for row in seconds] == [4, 2]
    assert all(0.0 <= row["random"] <= row["gp"] for row in seconds)


def test_growth_is_of_the_seconds_so_far(arrivals, two_methods):
    whole = experiment(arrivals, orders=1)
    order = [arrival.name for arrival in whole.arrival_order(0)]
    parts = {
        (0, method, name): StepResult([], [], [], 0.0, 0.0, [factor * (at + 1.0)], 0.0)
        for at, name in enumerate(order)
        for method, factor in (("random", 1.0), ("gp", 2.0))
    }
    monkeyed = list(yogatama.seconds_rows(whole, parts))
    assert monkeyed[0] == {
        "CPU seconds": "logistic on test",
        "datasets": 3,
        "random": 6.0,
        "gp": 12.0,
    }


def test_what_did_best_on_the_nearest_datasets_comes_first():
    def earlier(name, size, scores):
        settings = tuple({"C": float(k)} for k in range(len(scores)))
        return EarlierDataset(name, (size, 1.0, 2.0), settings, scores)

    datasets = (earlier("far", 9.0, (0.9, 0.1)), earlier("near", 5.1, (0.1, 0.2)))
    history = TuningHistory((*datasets, earlier("untried", 5.0, ())), (5.0, 1.0, 2.0), ())
    assert best_of_nearest(history, 2) == [{"C": 1.0}, {"C": 0.0}]
    assert best_of_nearest(history, 1) == [{"C": 1.0}]
    assert best_of_nearest(history, 0) == []


THREE = ("a", "b", "c")
ACCURACY = np.array(
    [
        [[0.9, 0.8, 0.7], [0.5, 0.5, 0.4]],  # ranks 1 2 3 and 1.5 1.5 3
        [[0.6, 0.7, 0.7], [1.0, 1.0, 1.0]],  # ranks 3 1.5 1.5 and 2 2 2
    ]
)


def test_ranks_of_equals_and_their_mean_and_deviation_over_runs():
    found = rank_methods(ACCURACY, THREE)
    np.testing.assert_allclose(found.of_runs, [[1.25, 1.75, 3.0], [2.5, 1.75, 1.75]])
    np.testing.assert_allclose(found.mean_ranks, [1.875, 1.75, 2.375])
    np.testing.assert_allclose(found.deviation, [1.25 / 2**0.5, 0.0, 1.25 / 2**0.5])
    np.testing.assert_allclose(found.standard_errors, [0.625, 0.0, 0.625])
    assert [found.position_of(name) for name in THREE] == [2, 1, 3]
    # Leads are paired over runs: 1.75 and −0.75, of sd 2.5/√2, over √2.
    assert found.mean_lead("a", "c") == pytest.approx((0.5, 1.25))
    (said,) = rank_text({"test": ACCURACY}, THREE, "a", ("c",))
    assert "a comes second of 3 (1.88): 0.50 better than c, 0.4 standard errors" in said
