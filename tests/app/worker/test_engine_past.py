"""What the worker tells of earlier datasets, with the real core."""

from __future__ import annotations

import pytest

from app.worker import messages as m
from app.worker.engine import Engine
from core.space import Axis
from core.tuning.history.dataset_records import (
    HistoryCounts,
    ImportCounts,
    RunMetadata,
    statistics_of,
)
from core.tuning.history.store import History
from core.tuning.plan import DataPlan, Plan

AXES = (
    Axis("C", "", "float", 1e-2, 1e3, log=True),
    Axis("gamma", "", "float", 1e-6, 1e2, log=True),
)


@pytest.fixture
def engine():
    return Engine()


@pytest.fixture
def plan():
    return Plan(DataPlan("sample:iris"), "svm", "random")


@pytest.fixture
def alone():
    with History() as history:
        history.forget_starter()


def add(rows, columns=4, classes=3):
    statistics = statistics_of(rows, columns, classes)
    facts = RunMetadata("svm", "multiclass", "accuracy", True, statistics, "gp", AXES)
    with History() as history:
        id = history.begin_dataset(facts)
        history.add_trial(id, 0, {"C": 1.0, "gamma": 0.1}, 0.9)


def test_known_datasets_are_counted_whatever_the_plans_strategy(engine, plan, alone):
    assert engine.answer(m.SummarizeHistory(plan)).counts == HistoryCounts()
    for rows, columns in ((105, 5), (110, 6), (1_000_000, 900), (105, 4)):
        add(rows, columns)
    # The last one has as many rows, columns and classes as the plan's dataset, and may be it.
    assert engine.answer(m.SummarizeHistory(plan)).counts == HistoryCounts(3, 2, same=1)
    transfer = m.SummarizeHistory(plan.changed(strategy="transfer"))
    assert engine.answer(transfer).counts.datasets == 3
    with History() as history:
        history.set_enabled(False)
    assert engine.answer(m.SummarizeHistory(plan)).counts == HistoryCounts(enabled=False)


def test_a_history_that_cannot_be_used_is_a_sentence(engine, plan, own_history):
    own_history.mkdir()
    assert "folder where the history should be" in engine.answer(m.SummarizeHistory(plan)).problem


def test_studies_are_taken_in(engine, alone, tmp_path):
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    storage = f"sqlite:///{tmp_path / 'studies.db'}"
    study = optuna.create_study(storage=storage, study_name="mine", direction="maximize")
    space = {
        axis.name: optuna.distributions.FloatDistribution(axis.low, axis.high, log=True)
        for axis in AXES
    }
    params = {"C": 2.0, "gamma": 0.1}
    trial = optuna.trial.create_trial(params=params, distributions=space, value=0.8)
    study.add_trial(trial)
    found = engine.answer(m.ImportHistory(storage, "svm", 300, 6, 2, "mine")).imported
    assert found == ImportCounts(1, 1)
    with History() as history:
        assert [(entry.rows, entry.features) for entry in history.entries()] == [(300, 6)]
