"""Tables of McInerney 2017: how trials are combined, what is paid for once, and going on again."""

from __future__ import annotations

import math
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
from scipy.stats import ttest_rel

from core.errors import UnusableError
from core.space import Axis
from tests.reproduction import mcinerney_models as mcinerney_faces
from tests.reproduction.kept_work import Checkpoint
from tests.reproduction.mcinerney_models import (
    BOTH,
    HEIGHT,
    LABELS,
    WIDTH,
    coarser,
    divide_documents,
    faces_problem,
    fit_faces,
    pictures,
)
from tests.reproduction.mcinerney_searches import (
    BAYES,
    EB_HYP,
    RANDOM,
    FittedSetting,
    SearchProblem,
    SearchRun,
    missing_trials,
    run_searches,
    searches,
)
from tests.reproduction.mcinerney_tables import (
    BEST,
    OURS,
    REFERENCE,
    difference_sentences,
    figures_page,
    log_likelihood_rows,
    percent,
    predictions,
)
from tests.reproduction.tables import paired_difference, printed_figures

SPACE = (
    Axis("alpha", "α", "float", 0.01, 1.0, log=True),
    Axis("eta", "η", "float", 0.01, 1.0, log=True),
)
ROWS = 5
FITS: list[tuple[float, float, int, bool]] = []


def fit(problem, setting, seed, validated):
    """A smooth f; a narrow band of settings fails."""
    a, b = math.log(setting["alpha"]), math.log(setting["eta"])
    FITS.append((a, b, seed, validated))
    if a < -4.2:
        return FittedSetting(float("nan"), {})
    f = -((a + 1) ** 2) - (b + 2) ** 2 - 100.0 * validated
    return FittedSetting(f, {"rows": [f - k for k in range(ROWS)]})


PROBLEM = SearchProblem("drawn", "", 0, 1, SPACE, ("alpha", "eta"), fit)


@pytest.fixture(autouse=True)
def no_fits():
    FITS.clear()


def of_rows(*densities):
    """A fit with these densities of its test rows, and their sum as f."""
    return {}, FittedSetting(float(sum(densities)), {"rows": list(densities)})


def runs_of(trials):
    modes = [(method, mode) for method in (BAYES, EB_HYP, RANDOM) for mode in (True, False)]
    return {(*mode, 0): trials for mode in modes}


def test_an_average_is_one_of_densities_row_by_row():
    # Twenty trials, the two best of which know one row each; T = 2.
    best = [of_rows(-1.0, -9.0), of_rows(-9.0, -1.5)]
    found = predictions(runs_of([*best, *[of_rows(-50.0, -50.0)] * 18]), [0], "rows")
    each = [(math.exp(-1) + math.exp(-9)) / 2, (math.exp(-9) + math.exp(-1.5)) / 2]
    assert found[OURS][0] == pytest.approx(math.log(each[0]) + math.log(each[1]))
    assert found[REFERENCE][0] == pytest.approx(-10.0)
    assert found[EB_HYP, False, BEST][0] == pytest.approx(-10.0)


def test_a_search_without_a_fitted_trial_predicts_nothing():
    failed = [({}, FittedSetting(None, {}))]
    found = predictions(runs_of([of_rows(-1.0)]) | {(EB_HYP, False, 0): failed}, [0], "rows")
    assert math.isnan(found[OURS][0])
    assert found[REFERENCE] == [-1.0]


@pytest.mark.parametrize("table", ["mcinerney-table2", "mcinerney-table3"])
def test_percentages_are_counted_as_the_paper_counts(table):
    printed = printed_figures(table)
    reference = printed["bayesopt"]["with"][0]
    for value, share in (figures for by_mode in printed.values() for figures in by_mode.values()):
        assert percent(value, reference) == pytest.approx(share, abs=0.6 if share < -100 else 0.006)


def test_a_table_has_the_papers_rows_beside_ours_and_six_more():
    found = predictions(runs_of([of_rows(-100.0)]), [0], "rows")
    found[OURS] = [-98.0]
    rows = list(log_likelihood_rows(found, "rows", printed_figures("mcinerney-table2")))
    assert len(rows) == 12
    assert rows[3]["method"] == EB_HYP
    assert rows[3]["% better"] == "+2.00"
    theirs = ("log lik., rows (paper)", "% better (paper)")
    assert tuple(rows[3][name] for name in theirs) == ("-351911", "+1.60")
    assert rows[5][theirs[0]] is None
    assert all(row[theirs[0]] is None for row in rows[6:])


def test_the_difference_is_paired_by_seed():
    runs = runs_of([of_rows(-100.0)])
    runs |= {(method, mode, 1): [of_rows(-50.0)] for method, mode, _ in list(runs)}
    found = predictions(runs, [0, 1], "rows")
    found[OURS] = [-98.0, -46.0]
    # Differences 2 and 4: mean 3, deviation √2, over √2 seeds.
    assert "+3.0 ± 1.0 nats (+5.00 %) over 2 seeds" in next(difference_sentences(found, "rows"))


def test_paired_differences_are_those_of_scipys_test_of_pairs():
    seeds = np.random.default_rng(0).normal(0, 100, 20)
    one, other = seeds + np.random.default_rng(1).normal(1, 0.1, 20), seeds
    mean, error = paired_difference(one, other)
    assert mean / error == pytest.approx(ttest_rel(one, other).statistic)
    assert error < 0.05  # far less than the seeds' spread
    mean, error = paired_difference([3.0, math.nan], [1.0, 2.0])
    assert mean == 2.0
    assert math.isnan(error)
    assert math.isnan(paired_difference([], [])[0])
    with pytest.raises(ValueError, match="different seeds"):
        paired_difference([1.0], [1.0, 2.0])


@pytest.mark.slow
def test_a_setting_is_fitted_once_whoever_tries_it(ended):
    ended(run_searches(searches(PROBLEM, 6, [0, 1]), 0))
    assert len(FITS) == len(set(FITS))
    # Four axes' worth of even starts are the same for EB-Hyp and BayesOpt in each mode and seed.
    assert len(FITS) <= 2 * 2 * (3 * 6 - 4)


@pytest.mark.slow
def test_a_stopped_run_goes_on_to_the_same_end(ended, tmp_path):
    every = searches(PROBLEM, 9, [0])
    _, whole = ended(run_searches(every, 0, Checkpoint("whole", tmp_path)))
    fits = len(FITS)
    FITS.clear()
    stopped = run_searches(every, 0, Checkpoint("stopped", tmp_path))
    for _ in range(13):
        next(stopped)
    stopped.close()
    _, again = ended(run_searches(every, 0, Checkpoint("stopped", tmp_path)))
    without_clock = [
        {key: [(s, replace(part, took=0.0)) for s, part in trials] for key, trials in runs.items()}
        for runs in (whole, again)
    ]
    assert without_clock[0] == without_clock[1]
    assert len(FITS) == fits  # none was paid again


def test_a_fit_that_fails_is_told_as_failed(ended, tmp_path):
    kept = Checkpoint("failing", tmp_path)
    search = SearchRun(PROBLEM, RANDOM, False, 0, 60)
    _, runs = ended(run_searches([search], 0, kept))
    trials = runs[RANDOM, False, 0]
    failed = [setting for setting, part in trials if part.f is None]
    assert failed  # otherwise this shows nothing
    assert all(math.log(setting["alpha"]) < -4.2 for setting in failed)
    assert not missing_trials(search, kept)


@pytest.mark.slow
def test_the_page_shows_both_figures(ended):
    _, runs = ended(run_searches(searches(PROBLEM, 8, [0]), 0))
    page = figures_page(PROBLEM, runs, "rows")
    assert page.count("<svg") == 3
    assert ">α<" in page
    # A dot for every place of the surface, and the trials of EB-Hyp that did not fail.
    finished = [part for _, part in runs[EB_HYP, False, 0] if part.f is not None]
    assert page[page.rindex("<svg") :].count("<circle") == 36 * 36 + len(finished)


needs_jax = pytest.mark.skipif(find_spec("jax") is None, reason="jax is not installed")
SETTING = {"n1": 10, "n2": 5, "kappa": 0.5, "rho": 0.1}


def test_coarser_pictures_are_means_of_blocks():
    X = np.random.default_rng(0).random((2, HEIGHT * WIDTH))
    small = coarser(X, 3)
    assert small.shape == (2, (HEIGHT // 3) * (WIDTH // 3))
    picture = X[1].reshape(HEIGHT, WIDTH)
    assert small[1, 12 + 5] == pytest.approx(picture[3:6, 15:18].mean())


@needs_jax
def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(UnusableError, match="lfw_people"):
        faces_problem(tmp_path, 0, 1)


@needs_jax
def test_a_fit_is_judged_by_what_it_was_trained_on_or_by_validation_rows(monkeypatch):
    asked = []

    def densities(model, X, y):
        asked.append(len(X))
        return np.full(len(X), -2.0)

    monkeypatch.setattr(mcinerney_faces, "joint_log_densities", densities)
    problem = faces_problem(None, 0, 1)
    train, validation, test = divide_documents(len(pictures("", 0)[0]), 3, (0.2, 0.2))
    with_validation = fit_faces(problem, SETTING, 3, True)
    without = fit_faces(problem, SETTING, 3, False)
    both = len(train) + len(validation)
    assert asked == [len(validation), len(test), both, len(test)]
    assert with_validation.f == -2.0 * len(validation)
    assert without.f == -2.0 * both
    assert len(without["test"][BOTH]) == len(without["test"][LABELS]) == len(test)
