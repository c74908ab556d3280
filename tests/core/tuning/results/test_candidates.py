"""The models of a run of one model that a person may select: tuned, its average, the default."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from run_events import tune_here as tune
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from core.figures.score_figures import score_rows
from core.tuning.events import ModelSelected, RunFinished
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem
from core.tuning.results.conclude import select_model
from core.tuning.runs.best import best_of
from core.tuning.runs.run_folder import RunFolder

DATA = DataPlan("sample:iris")
PLANS = {
    "trials": Plan(DATA, "logistic", "random", trials=3, folds=2, seed=5, refit=False),
    "penalties": Plan(DATA, "logistic", "mm", seed=5, refit=False),
    "average": Plan(DATA, "logistic", "eb-hyp", trials=21, folds=2, seed=5, refit=False),
}
TITLES = {"best": "Tuned setting", "default": "Default setting", "average": "Average of 2 models"}


def kinds_of(results):
    return {candidate.kind: candidate for candidate in results.candidates}


@pytest.fixture(params=PLANS)
def ended(request, iris, tmp_path):
    plan = PLANS[request.param]
    folder = RunFolder.create(plan, path=tmp_path / "run")
    results = list(tune(plan, iris, folder=folder))[-1].results
    folder.close()
    return request.param, folder, results


def test_the_default_setting_is_selected_as_the_others_are(ended, iris):
    kind, folder, results = ended
    selected = "average" if kind == "average" else "best"
    candidates = kinds_of(results)
    assert set(candidates) == {"best", "default", selected}
    assert [c.kind for c in results.candidates if c.taken] == [results.taken] == [selected]
    assert [row.name for row in score_rows(results)] == [TITLES[c] for c in candidates]
    assert all(row.score == row.score for row in score_rows(results))
    assert all(candidate.row_seconds > 0 for candidate in results.candidates)

    after = select_model(folder, ModelSelected(kind="default"), iris).results
    assert after.taken == "default"
    assert [row.name for row in score_rows(after)] == [TITLES[c] for c in candidates]
    assert kinds_of(after)["default"].taken
    assert after.test == pytest.approx(results.default_test)
    assert after.gain.difference == 0
    problem = build_problem(folder.plan, iris)
    X, _ = problem.test_data
    peer = make_pipeline(StandardScaler(), LogisticRegression(C=1.0, max_iter=1000))
    proba = peer.fit(*problem.training_data).predict_proba(X)
    np.testing.assert_allclose(best_of(folder).predict_proba(X), proba, atol=1e-3)

    back = select_model(folder, ModelSelected(kind=selected), iris).results
    assert back.taken == selected
    assert back.test == pytest.approx(results.test, rel=0.1)
    assert back.groups == pytest.approx(results.groups)


def test_rows_of_folds_prove_the_default_setting_alone_where_tuning_was_not_repeated(
    iris, tmp_path
):
    plan = replace(PLANS["trials"], evaluation="nested")
    folder = RunFolder.create(plan, path=tmp_path / "run")
    assert isinstance(list(tune(plan, iris, folder=folder))[-1], RunFinished)
    folder.close()
    default, best = (
        select_model(folder, ModelSelected(kind=kind), iris).results for kind in ("default", "best")
    )
    assert not default.evaluation.repeated
    assert default.gain_over_baseline.low > 0.3
    assert default.gain_over_baseline.real
    assert not best.gain_over_baseline.real
