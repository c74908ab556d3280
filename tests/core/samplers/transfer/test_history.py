"""A dataset teaches no run on itself, and several runs on one dataset count once."""

from __future__ import annotations

import numpy as np
import pytest

from core.samplers.transfer.history import EarlierDataset, may_be_present, teaching_datasets
from core.tuning.history.dataset_records import statistics_of

DEFAULT = {"C": 1.0}


def dataset_of(id, rows=200, columns=12, classes=3, *, scores=(0.9, 0.7), starter=False):
    settings = (DEFAULT, *({"C": f"{id} {number}"} for number in range(1, len(scores))))
    statistics = statistics_of(rows, columns, classes)
    return EarlierDataset(id, statistics, settings, tuple(scores), True, starter)


@pytest.mark.parametrize(
    ("rows", "columns", "classes", "is_same"),
    [
        (140, 12, 3, True),  # 30 % of the rows test instead of none
        (190, 12, 3, True),  # 95 % of the rows
        (200, 12, 3, True),
        (100, 12, 3, True),
        (400, 12, 3, True),
        (90, 12, 3, False),
        (450, 12, 3, False),
        (200, 13, 3, False),
        (200, 12, 2, False),
    ],
)
def test_what_may_be_the_present_dataset(rows, columns, classes, is_same):
    present, earlier = [statistics_of(200, 12, 3)], dataset_of("a", rows, columns, classes)
    assert may_be_present(earlier, present) == is_same
    expected = ((), 1) if is_same else ((earlier,), 0)
    assert teaching_datasets([earlier], present) == expected


def test_what_came_with_the_program_teaches_whatever_its_form():
    starter = dataset_of("a", starter=True)
    assert teaching_datasets([starter], [starter.statistics]) == ((starter,), 0)


def test_of_reruns_the_one_of_most_trials_counts_and_of_equal_ones_the_newest():
    present = [statistics_of(50, 3, 0)]
    runs = [
        dataset_of("a", scores=(0.90, 0.6, 0.8)),
        dataset_of("b", 190, scores=(0.91, 0.6, 0.5)),
        dataset_of("c", 180, scores=(0.89, 0.7)),
        dataset_of("d", columns=13, scores=(0.90, 0.6)),
        dataset_of("e", scores=(0.50, 0.4)),  # scores of the default as no rerun has them
        dataset_of("f", scores=(0.90, 0.6, 0.8), starter=True),
    ]
    assert [run.id for run in teaching_datasets(runs, present)[0]] == ["b", "d", "e", "f"]


def test_the_second_file_may_be_an_earlier_dataset_too():
    present = [statistics_of(1000, 12, 3), statistics_of(100, 12, 3)]
    assert may_be_present(dataset_of("a", 70), present)
    assert not may_be_present(dataset_of("a", 300), present)


def test_many_runs_of_one_form_are_told_apart():
    random = np.random.default_rng(0)
    scores = 1.3 ** np.arange(300)[:, None] * random.uniform(0.95, 1.0, (300, 10))
    runs = [dataset_of(f"a{n}", scores=scores[n].tolist()) for n in range(300)]
    assert len(teaching_datasets(runs, [statistics_of(50, 3, 0)])[0]) == 300
