"""Tables of McInerney 2017: how trials are combined, what is paid for once, and going on again."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from core.reproduction import checkpoint
from core.reproduction.checkpoint import Checkpoint
from core.reproduction.mcinerney.mcinerney_figures import figures_page, ordered_losses
from core.reproduction.mcinerney.mcinerney_searches import (
    BAYES,
    EB_HYP,
    RANDOM,
    FittedSetting,
    SearchChain,
    SearchProblem,
    SearchRun,
    run_searches,
    searches,
)
from core.reproduction.mcinerney.mcinerney_tables import (
    BEST,
    OURS,
    REFERENCE,
    TableSize,
    difference_sentences,
    log_likelihood_rows,
    percent,
    predictions,
    table2_rows,
)
from core.reproduction.papers import MCINERNEY_TABLE_2, MCINERNEY_TABLE_3
from core.space import Axis

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
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "kept_folder", lambda: tmp_path)
    monkeypatch.setattr(
        "core.reproduction.mcinerney.mcinerney_tables.kept_folder", lambda: tmp_path
    )
    FITS.clear()
    return tmp_path


def ended(steps):
    """Run a generator to its end: what it said, and what it returned."""
    said = []
    while True:
        try:
            said.append(next(steps))
        except StopIteration as end:
            return said, end.value


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


@pytest.mark.parametrize("printed", [MCINERNEY_TABLE_2, MCINERNEY_TABLE_3])
def test_percentages_are_counted_as_the_paper_counts(printed):
    reference = printed["bayesopt", True][0]
    for value, share in printed.values():
        assert percent(value, reference) == pytest.approx(share, abs=0.6 if share < -100 else 0.006)


def test_a_table_has_the_papers_rows_beside_ours_and_six_more():
    found = predictions(runs_of([of_rows(-100.0)]), [0], "rows")
    found[OURS] = [-98.0]
    rows = list(log_likelihood_rows(found, "rows", MCINERNEY_TABLE_2))
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


def test_a_setting_is_fitted_once_whoever_tries_it():
    ended(run_searches(searches(PROBLEM, 8, [0, 1]), 0))
    assert len(FITS) == len(set(FITS))
    # Four axes' worth of even starts are the same for EB-Hyp and BayesOpt in each mode and seed.
    assert len(FITS) <= 2 * 2 * (3 * 8 - 4)


def test_the_two_that_are_compared_come_first_and_seed_by_seed():
    order = [(s.method, s.validated, s.seed) for s in searches(PROBLEM, 8, [0, 1])]
    pair = [(BAYES, True), (EB_HYP, False)]
    assert order[:4] == [(*one, seed) for seed in (0, 1) for one in pair]
    assert len(set(order)) == 12


def test_a_stopped_run_goes_on_to_the_same_end(tmp_path):
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


def test_more_trials_go_on_from_fewer():
    _, few = ended(run_searches(searches(PROBLEM, 6, [0]), 0))
    before = len(FITS)
    _, more = ended(run_searches(searches(PROBLEM, 9, [0]), 0))
    assert len(FITS) <= before + 6 * 3
    for key, trials in few.items():
        assert more[key][:6] == trials


def test_a_fit_that_fails_is_told_as_failed(tmp_path):
    kept = Checkpoint("failing", tmp_path)
    search = SearchRun(PROBLEM, RANDOM, False, 0, 60)
    _, runs = ended(run_searches([search], 0, kept))
    trials = runs[RANDOM, False, 0]
    failed = [setting for setting, part in trials if part.f is None]
    assert failed  # otherwise this shows nothing
    assert all(math.log(setting["alpha"]) < -4.2 for setting in failed)
    assert not SearchChain(search, kept).unfinished


def test_figure_1_orders_test_errors_by_validation():
    trials = [of_rows(-3.0), of_rows(-1.0), of_rows(-2.0)]
    for (_, part), test in zip(trials, (-7.0, -9.0, -8.0), strict=True):
        part.test["rows"] = [test]
    assert ordered_losses(trials, None) == [1.0, 2.0, 3.0]
    assert ordered_losses(trials, "rows") == [9.0, 8.0, 7.0]


def test_the_page_shows_both_figures():
    _, runs = ended(run_searches(searches(PROBLEM, 8, [0]), 0))
    page = figures_page(PROBLEM, runs, "rows")
    assert page.count("<svg") == 3
    assert "log α" in page
    # A cell for every place of the surface, and the trials of EB-Hyp that did not fail.
    drawing = page[page.rindex("<svg") :]
    assert drawing.count("<rect") >= 36 * 36
    finished = [part for _, part in runs[EB_HYP, False, 0] if part.f is not None]
    assert drawing.count("<circle") == len(finished)


def test_topics_of_drawn_documents_end_in_a_table(folder):
    rows = [
        row
        for row in table2_rows(None, True, 0, TableSize(2, 1, 200, 1))
        if not isinstance(row, str)
    ]
    values = [row for row in rows if "method" in row]
    assert len(values) == 12
    assert all(
        float(next(v for k, v in row.items() if "log lik." in k and "paper" not in k)) < 0
        for row in values
    )
    assert [*folder.glob("*.html")]
    name = next(row["in words"] for row in rows if "Figures" in row.get("in words", ""))
    assert str(folder) in name


def test_single_bests_of_one_trial_equal_their_averages():
    found = predictions(runs_of([of_rows(*np.linspace(-3, -1, ROWS))]), [0], "rows")
    assert len({round(values[0], 9) for values in found.values()}) == 1
