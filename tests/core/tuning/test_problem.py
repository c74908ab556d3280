"""The problem of a run: the score of its baseline, and runs on texts with labels."""

from __future__ import annotations

import numpy as np
import pytest
from run_events import of, until
from run_events import tune_here as tune
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer

from core.datasets.reading import read_dataset
from core.datasets.samples import SAMPLES
from core.datasets.summary import summarize
from core.estimators.registry import MODELS
from core.tuning.candidate_models import candidate_models, stays_sparse
from core.tuning.events import RunFinished, TrialFinished
from core.tuning.guidance.advice import advise
from core.tuning.learning.training import table_training
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import baseline_score
from core.tuning.problem_setup import build_problem, read_data
from core.tuning.tune import start_event
from core.tuning.tune import tune as tune_in_processes


def problem_of(sample, model="auto", strategy="race", trials=3, **given):
    data = DataPlan(sample if "/" in sample else f"sample:{sample}")
    return build_problem(Plan(data, model, strategy, trials=trials, **given), read_data(data))


def test_of_classes_it_is_the_share_of_the_most_frequent_one():
    problem = problem_of("wine")
    shares = []
    for fit_rows, score_rows in problem.splits:
        labels, counts = np.unique(problem.dataset.target[fit_rows], return_counts=True)
        most = labels[np.argmax(counts)]
        shares.append(np.mean(problem.dataset.target[score_rows] == most))
    assert baseline_score(problem) == pytest.approx(np.mean(shares))


def test_of_numbers_it_is_the_mean():
    problem = problem_of("diabetes", metric="mse")
    y, scores = np.asarray(problem.dataset.target, dtype=float), []
    for fit_rows, score_rows in problem.splits:
        scores.append(np.mean((y[score_rows] - y[fit_rows].mean()) ** 2))
    assert baseline_score(problem) == pytest.approx(np.mean(scores))
    # The mean of other rows is a little off: that R² below 0 would be of nothing known.
    assert baseline_score(problem_of("diabetes")) == 0.0


@pytest.mark.parametrize(
    ("metric", "usual"), [("log_loss", np.log(3)), ("auc", 0.5), ("balanced_accuracy", 1 / 3)]
)
def test_every_metric_has_one(metric, usual):
    assert baseline_score(problem_of("wine", metric=metric)) == pytest.approx(usual, abs=0.05)


@pytest.mark.parametrize("chosen", [("auto", "race"), ("svm", "random")])
def test_a_run_of_trials_begins_with_it(chosen):
    problem = problem_of("wine", *chosen)
    assert start_event(problem, {}, None, "").baseline == pytest.approx(baseline_score(problem))


@pytest.mark.parametrize(
    "problem", [("wine", "logistic", "mm", None), ("texts", "lda", "random")], ids=lambda p: p[1]
)
def test_a_learner_has_no_scores_to_compare_with_and_topics_predict_no_column(problem):
    assert start_event(problem_of(*problem), {}, None, "").baseline is None


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("texts") / "reviews.csv"
    SAMPLES["reviews"].table().head(120).to_csv(path, index=False)
    return str(path)


def test_folds_know_the_words_of_their_own_rows_alone(file: str) -> None:
    made = problem_of(file, "logistic", "random", folds=3)
    texts = made.dataset.table["review"]
    for (fit_rows, score_rows), fold in zip(made.splits, made.fold_data(), strict=True):
        words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2)
        expected = words.fit_transform(texts.iloc[fit_rows])
        width = expected.shape[1]
        # The words stand before the parts of words, which come last.
        parts = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), min_df=2)
        start = fold.fit_X.shape[1] - width - parts.fit_transform(texts.iloc[fit_rows]).shape[1]
        for X, wanted in (
            (fold.fit_X, expected),
            (fold.score_X, words.transform(texts.iloc[score_rows])),
        ):
            assert sparse.issparse(X)
            assert abs(X[:, start : start + width] - wanted).max() < 1e-12


def test_the_models_that_compete_take_sparse_rows(file: str) -> None:
    dataset = read_dataset(file)
    assert stays_sparse(dataset)
    names = candidate_models(dataset)
    assert "logistic" in names
    assert all(MODELS[name].takes_sparse for name in names)
    advice = advise(summarize(dataset))
    [together] = [one for one in advice["models"] if one["name"] == "auto"]
    assert together["tries"] == [one["title"] for one in advice["models"] if one["name"] in names]


@pytest.mark.parametrize("strategy", ["mm", "evidence", "loo"])
def test_a_text_column_is_one_group_of_penalties(file: str, strategy: str) -> None:
    made = problem_of(file, "logistic", strategy, None, groups="column")
    training = table_training(made, made.train_rows)
    assert set(training.group_names) == {"bought", "price", "review"}
    assert training.group_sizes["review"] > 300
    assert sum(training.group_sizes.values()) == len(training.groups) - 1


@pytest.mark.slow
def test_a_run_of_several_models_on_texts(file: str) -> None:
    plan = Plan(DataPlan(file), "auto", "race", trials=4, folds=2)
    events = list(tune(plan, read_dataset(file)))
    assert isinstance(events[-1], RunFinished)
    assert events[-1].results["test"]["accuracy"] > 0.6
    assert np.isfinite(events[-1].results["validation"]["accuracy"])


def test_a_model_without_sparse_rows_sees_directions(file: str) -> None:
    [fold, _] = problem_of(file, "boosting", "random", folds=2).fold_data()
    assert isinstance(fold.fit_X, np.ndarray)
    assert fold.fit_X.shape[1] <= 100 + 5


@pytest.mark.parametrize("workers", [1, 2])
def test_each_fold_is_prepared_once_for_all_trials(workers, monkeypatch, tmp_path, iris):
    counted, fit_transform = tmp_path / "fits", ColumnTransformer.fit_transform

    def counting(self, X, y=None):
        with counted.open("a") as file:  # that the processes of trials write to as well
            file.write(f"{len(X)}\n")
        return fit_transform(self, X, y)

    monkeypatch.setattr(ColumnTransformer, "fit_transform", counting)
    plan = Plan(DataPlan("sample:iris"), "logistic", "random", trials=4, folds=3, workers=workers)
    events = until(tune_in_processes(plan, iris))
    assert len(of(TrialFinished, events)) == 4
    fold_rows = [len(fit_rows) for fit_rows, _ in build_problem(plan, iris).splits]
    assert counted.read_text().split() == [str(count) for count in fold_rows]
