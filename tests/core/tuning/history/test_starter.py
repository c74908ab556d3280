"""The starter history is there on the first day, labelled, removable, and fits the program."""

import json
from importlib.resources import files

import pytest

from core.estimators.registry import MODELS
from core.tuning.history.exchange import starter_records
from core.tuning.history.store import History, RunMetadata, statistics_of
from core.tuning.scores.metrics import METRICS, default_metric

FILE = files("resources") / "starter_history.json"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "history.sqlite3"


def facts_of(model: str, task: str) -> RunMetadata:
    metric = METRICS[default_metric(task)]
    statistics = statistics_of(300, 8, {"regression": 0, "binary": 2}.get(task, 4))
    space = MODELS[model].space(task)
    return RunMetadata(model, task, metric.name, metric.maximize, statistics, "gp", space)


def starters(history: History) -> list:
    return [entry for entry in history.entries() if entry.starter]


def test_a_new_history_has_it_and_it_stays_when_opened_again(path):
    for _ in range(2):
        with History(path) as history:
            assert len(starters(history)) == len(starter_records()) > 100


@pytest.mark.parametrize(
    ("model", "task"),
    [
        (name, task)
        for name in ("linear", "logistic", "elastic-net", "svm", "forest", "boosting", "mlp")
        for task in ("binary", "regression")
        if task in MODELS[name].tasks
    ],
)
def test_every_model_of_tables_finds_datasets_in_it(path, model, task):
    with History(path) as history:
        facts = facts_of(model, task)
        past = history.datasets_for(facts)
        assert len(past) >= 3
        assert all(one.starter for one in past)
        assert min(len(one.scores) for one in past) >= 5
        known = history.matching_counts(facts)
        assert (known.datasets, known.starter) == (len(past), len(past))
        assert 0 < known.similar < known.datasets


def test_all_of_it_lies_in_the_models_spaces_and_is_scored_as_they_are_by_default():
    for record in starter_records():
        model = MODELS[record.model]
        assert record.task in model.tasks
        assert record.metric == default_metric(record.task)
        assert record.maximize == METRICS[record.metric].maximize
        for trial in record.trials:
            setting = dict(zip(record.axes, trial.values, strict=True))
            for axis in model.space(record.task):
                value = setting.pop(axis.name)
                inside = value in axis.choices or axis.low <= value <= axis.high
                assert inside, (record.model, axis.name, value)
            assert not setting
            assert trial.score <= 1.0


def test_it_is_small_and_its_ids_are_its_own():
    assert len(FILE.read_bytes()) < 1_000_000
    ids = [dataset["id"] for dataset in json.loads(FILE.read_text())["datasets"]]
    assert len(set(ids)) == len(ids)


def test_removed_it_stays_removed_until_it_is_asked_for(path):
    with History(path) as history:
        own = history.begin_dataset(facts_of("svm", "binary"))
        history.add_trial(own, 0, {"C": 1.0, "gamma": 0.1}, 0.5)
        there = len(starters(history))
        assert history.forget_starter() == there
        assert [entry.id for entry in history.entries()] == [own]
    with History(path) as history:
        assert [entry.id for entry in history.entries()] == [own]
        assert history.restore_starter() == there
        assert history.restore_starter() == 0
        assert len(starters(history)) == there
        history.forget_all()
    with History(path) as history:
        assert history.entries() == []


def test_a_starter_dataset_that_was_forgotten_by_itself_stays_forgotten(path):
    with History(path) as history:
        gone = starters(history)[0].id
        history.forget_dataset(gone)
    with History(path) as history:
        assert gone not in {entry.id for entry in history.entries()}
