"""The distance by ranks: scores by hand, ordinary and moved rows, an odd training row, patients."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import rankdata

from core.evaluation.rank_distance import MIN_ROWS, ColumnRanks, RankDistance, rank_distance
from core.json_reading import read_as
from core.records import to_plain


def marked_share(distance, rows):
    return distance.is_unlike(distance.distance_terms(rows)).mean()


def single_rows(rows):
    return rank_distance(rows, [0] * rows.shape[1], np.arange(len(rows)))


def test_scores_are_normal_scores_of_ranks_and_grow_by_logarithms_beyond():
    values = np.random.default_rng(0).lognormal(size=400)
    column = single_rows(values[:, None]).columns[0]
    by_hand = ndtri((rankdata(values) - 0.5) / 400)
    inside = np.abs(by_hand) < column.edge - 0.1
    assert np.abs(column.rank_scores(values) - by_hand)[inside].max() < 0.25
    end, slope = column.knots[-1], column.slopes[1]
    beyond = column.rank_scores(end + slope * np.array([0.0, 0.01, 3.0, 300.0]))
    expected = column.edge + 1.5 * np.log1p(np.array([0.0, 0.01, 3.0, 300.0]) / 1.5)
    assert beyond == pytest.approx(expected)


def test_a_category_is_as_odd_as_those_as_rare_as_it_are_few():
    codes = np.repeat([0.0, 1, 2, 3], [60, 30, 8, 2])
    column = rank_distance(codes[:, None], [4], np.arange(100)).columns[0]
    expected = [-ndtri(share / 2) for share in (1.0, 0.4, 0.1, 0.02)]
    assert column.rarity[:4] == pytest.approx(expected, abs=1e-4)
    # None was alone with its category: a new one is beyond all; with one alone, as odd as that.
    assert column.rarity[4] == 6
    codes[-1] = 2
    column = rank_distance(codes[:, None], [4], np.arange(100)).columns[0]
    assert column.rarity[3] == column.rarity[4] == pytest.approx(-ndtri(0.01 / 2), abs=1e-4)


@pytest.mark.parametrize(("n", "p"), [(100, 3), (300, 30)])
def test_ordinary_rows_are_marked_in_one_of_a_hundred_and_moved_ones_mostly(n, p):
    marked, moved = [], []
    for seed in range(12):
        random = np.random.default_rng(seed)
        distance, new = single_rows(random.normal(size=(n, p))), random.normal(size=(800, p))
        marked.append(marked_share(distance, new))
        new[:, : int(np.ceil(np.sqrt(p)))] += 3
        moved.append(marked_share(distance, new))
    assert 0.003 < np.mean(marked) < 0.02
    assert np.mean(moved) > 0.6


def test_one_odd_training_row_does_not_blind_it():
    random = np.random.default_rng(3)
    rows, moved = random.normal(size=(150, 8)), random.normal(size=(500, 8))
    moved[:, :3] += 3
    before = marked_share(single_rows(rows), moved)
    rows[0] = 1e6
    after = marked_share(single_rows(rows), moved)
    assert after > 0.7 * before
    assert marked_share(single_rows(rows), np.full((1, 8), 1e4)) == 1


def test_new_patients_are_ordinary_where_rows_come_from_patients():
    random = np.random.default_rng(5)
    patients = np.repeat(np.arange(60), 10)

    def drawn_rows():
        return random.normal(size=(60, 12))[patients] + 0.1 * random.normal(size=(600, 12))

    rows, new = drawn_rows(), np.concatenate([drawn_rows() for _ in range(5)])
    assert marked_share(rank_distance(rows, [0] * 12, patients), new) < 0.04
    assert marked_share(single_rows(rows), new) > 0.05


def test_equal_values_missing_ones_and_few_rows_do_no_harm():
    rows = np.column_stack([np.full(40, 4.0), np.full(40, np.nan), np.arange(40) % 2])
    distance = single_rows(rows)
    assert not distance.is_unlike(distance.distance_terms(rows)).any()
    strange = np.array([[5.0, 1.0, 0.0], [4.0, 1.0, np.inf], [np.nan] * 3])
    assert distance.is_unlike(distance.distance_terms(strange)).tolist() == [True, True, False]
    assert single_rows(rows[: MIN_ROWS - 1]) is None
    assert rank_distance(rows, [0, 0, 0], np.zeros(40)) is None  # all of one patient


def test_it_is_the_same_from_its_file_and_a_stranger_s_is_not_believed():
    random = np.random.default_rng(0)
    rows = np.column_stack([random.normal(size=(90, 3)) + random.normal(size=(90, 1)), [0, 1] * 45])
    counts = [0, 0, 0, 2]
    distance = rank_distance(rows, counts, np.arange(90))
    assert distance.loadings  # the three share something
    assert distance.is_sound(counts)
    assert read_as(RankDistance, json.loads(json.dumps(to_plain(distance)))) == distance
    for wrong in (
        {"means": [0.0] * 3},
        {"limits": [1.0]},
        {"residuals": [0.0] * 4},
        {"loadings": [[0.0]]},
        {"columns": [ColumnRanks()]},
        {"columns": [ColumnRanks(knots=[1.0])] * 4},
        {"columns": [*distance.columns[:3], ColumnRanks(rarity=[1.0])]},
    ):
        assert not replace(distance, **wrong).is_sound(counts)
