"""What is held out of the training data: for the gradient, against the default, and for γ."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.datasets.reading import read_dataset
from core.datasets.splitting import cross_validation_folds
from core.errors import UnusableError
from core.estimators.structured.crf_tagger import CrfTagger
from core.estimators.structured.rna_folder import RnaFolder
from core.losses.rna.decode import GAMMAS
from core.records import to_plain
from core.tuning.learning.holdout import (
    at_sensitivity,
    best_f1,
    compare_with_default,
    holdout_pairs,
    holdout_remarks,
    resolved_options,
)
from core.tuning.learning.learning_run import training_of
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import take_rows
from core.tuning.problem_setup import build_problem
from core.tuning.runs.best import best_of
from core.tuning.runs.run_folder import RunFolder
from core.tuning.scores.metric import safe_ratio
from core.tuning.tune import tune


def tags_of(count: int, seed: int) -> pd.DataFrame:
    """Sentences of three tags whose words tell the tag, and a column of words that come once."""
    generator = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        tag = generator.integers(3)
        for _ in range(generator.integers(3, 7)):
            tag = (tag + generator.choice([0, 1], p=[0.3, 0.7])) % 3
            word = f"w{tag}{generator.integers(4)}" if generator.random() < 0.9 else "w"
            rows.append((f"s{number}", word, f"u{len(rows)}", "ABC"[tag]))
    return pd.DataFrame(rows, columns=["sequence", "word", "unique", "tag"])


@pytest.fixture
def file(tmp_path):
    """Where the sentences are written."""

    def written(count: int) -> str:
        path = tmp_path / f"tags{count}.csv"
        tags_of(count, 0).to_csv(path, index=False)
        return str(path)

    return written


def problem_of(file: str, strategy: str = "mm", **changes):
    plan = Plan(DataPlan(file), "crf", strategy, groups="column").changed(**changes)
    return build_problem(plan, read_dataset(file))


def test_penalties_that_ruin_the_model_lose(file) -> None:
    problem = problem_of(file(80))
    training = training_of(problem)
    C = np.full(len(training.group_names), 1e4)
    check = compare_with_default(problem, training, C, training.loss.initial_weights())
    assert check.loses
    assert "the default is kept" in check.remark
    assert "sequences of the training data held out" in check.remark


def test_the_losses_that_are_told_are_those_of_taggers_fitted_to_the_other_sequences(file) -> None:
    problem = problem_of(file(80), groups="single")
    training = training_of(problem)
    check = compare_with_default(
        problem, training, np.array([300.0]), training.loss.initial_weights()
    )
    # Each fifth by hand: one of them has both numbers.
    X, y = problem.training_data
    names = X["sequence"].to_numpy()
    told = []
    for fit_rows, held_rows in folds_by_hand(problem):
        own = [
            CrfTagger(C)
            .fit(X.iloc[fit_rows], y[fit_rows])
            .log_losses(X.iloc[held_rows], y[held_rows])
            .mean()
            for C in (300.0, 1.0)
        ]
        told.append("{:.2g} against {:.2g}".format(*own))
        assert not set(names[fit_rows]) & set(names[held_rows])
    said = check.remark.split("log loss a token ")[1].split(")")[0]
    assert "{:.2g} against {:.2g}".format(*map(float, said.split(" against "))) in told


def folds_by_hand(problem):
    from core.datasets.splitting import cross_validation_folds

    place = {row: k for k, row in enumerate(problem.train_rows)}
    for parts in cross_validation_folds(problem.dataset, problem.train_rows, 5, problem.plan.seed):
        yield tuple(np.array([place[row] for row in part]) for part in parts)


def test_penalties_that_help_are_kept_without_a_word(file) -> None:
    problem = problem_of(file(80))
    training = training_of(problem)
    C = np.array([50.0 if name == "unique" else 0.5 for name in training.group_names])
    check = compare_with_default(problem, training, C, training.loss.initial_weights())
    assert (check.loses, check.remark) == (False, "")


def test_a_run_whose_penalties_lose_ends_with_the_default_model_and_says_so(file) -> None:
    path = file(80)
    # All penalties start at their largest and may hardly move.
    options = {"validation": "holdout", "start": 11.0, "steps": 1, "prior": "none", "low": 0.0}
    plan = Plan(DataPlan(path), "crf", "gradient", options=options, groups="column")
    results = list(tune(plan, read_dataset(path)))[-1].results
    assert set(results["groups"].values()) == {1.0}
    assert results["test"]["joint_log_loss"] == pytest.approx(
        results["default_test"]["joint_log_loss"], rel=1e-3
    )
    assert any("the default is kept" in said for said in results["remarks"])


def test_too_few_sequences_to_hold_out_are_said(file) -> None:
    problem = problem_of(file(20))
    training = training_of(problem)
    check = compare_with_default(
        problem, training, np.full(4, 1e4), training.loss.initial_weights()
    )
    assert not check.loses
    assert check.remark.startswith("With 14 sequences to train on, too few could be held out")


@pytest.mark.parametrize(
    ("count", "groups", "expected"),
    [(80, "column", "folds"), (80, "single", "holdout"), (20, "single", "folds")],
)
def test_few_held_out_sequences_a_penalty_are_all_held_out_in_turns(
    file, count, groups, expected
) -> None:
    problem = problem_of(file(count), "gradient", groups=groups)
    training = training_of(problem)
    options = resolved_options(problem, training)
    # 56 or 14 sequences to train on: a quarter is 14 or 3, and four kinds would need 20.
    assert (options["validation"], options["prior"]) == (expected, "weak")
    assert len(holdout_pairs(problem, training)) == (1 if expected == "holdout" else 5)


def test_a_table_has_no_prior() -> None:
    problem = build_problem(
        Plan(DataPlan("sample:groups"), "logistic", "gradient"), read_dataset("sample:groups")
    )
    assert resolved_options(problem, training_of(problem))["prior"] == "none"


def test_more_penalties_than_held_out_sequences_are_said(file) -> None:
    options = {"validation": "holdout"}
    problem = problem_of(file(20), "gradient", options=options)
    said = holdout_remarks(problem, training_of(problem))
    assert said[0].startswith("4 penalties were learned from 3 sequences held out")
    assert not holdout_remarks(problem_of(file(20), "gradient"), training_of(problem))


PLAN = Plan(DataPlan("sample:molecules", test_size=0.7), "rna", "mm", options={"max_steps": 1})


@pytest.fixture(scope="module")
def molecules():
    """The 24 shortest of the sample: a fold costs the cube of the length."""
    whole = read_dataset("sample:molecules")
    lengths = [len(letters) for letters in whole.table.iloc[:, 0]]
    kept = np.sort(np.argsort(lengths, kind="stable")[:24])
    table = whole.table.iloc[kept].reset_index(drop=True)
    return replace(whole, table=table, target=whole.target[kept], row_names=whole.row_names[kept])


def ended(plan, dataset, tmp_path):
    """The results and the kept folder."""
    folder = RunFolder.create(plan, tmp_path)
    results = list(tune(plan, dataset, folder=folder))[-1].results
    return results, best_of(folder)[-1]


def test_the_best_and_the_most_cautious_that_finds_enough_by_hand():
    pairs = np.zeros((16, 3))
    pairs[:, 2] = 10
    pairs[4:, :2] = 4, 5  # sensitivity 0.4, F1 8/15
    pairs[8:, :2] = 6, 12  # 0.6, 12/22
    pairs[12:, :2] = 7, 40  # 0.7, 14/50
    assert best_f1(pairs) == GAMMAS[8]
    assert at_sensitivity(pairs, 0.5).gamma == GAMMAS[8]
    assert at_sensitivity(pairs, 0.4).gamma == GAMMAS[4]
    none = at_sensitivity(pairs, 0.9)
    assert none.gamma == GAMMAS[-1]
    assert none.remark.startswith("No γ finds 90 % of the true pairs")


def test_a_given_gamma_is_that_of_the_model_and_of_its_scores(molecules, tmp_path):
    plan = PLAN.changed(gamma=0.3, refit=False)
    results, kept = ended(plan, molecules, tmp_path)
    assert kept.gamma == 0.3
    assert to_plain(results["gamma"]) == {"tuned": 0.3, "default": 0.3}
    X, y = build_problem(plan, molecules).test_data
    called = sum(structure.count("(") for structure in kept.predict(X))
    assert results["pairs"]["tuned"]["called"] == called
    assert results["test"]["sensitivity"] == pytest.approx(
        results["pairs"]["tuned"]["right"] / sum(truth.count("(") for truth in y)
    )


@pytest.mark.parametrize("strategy", ["mm", "grid"])
def test_a_gamma_for_the_best_f1_is_that_of_training_molecules_held_out(
    molecules, tmp_path, strategy
):
    plan = PLAN.changed(strategy=strategy, gamma_by="f1", trials=1, folds=2)
    plan = plan.changed(options=PLAN.options if strategy == "mm" else {})
    results, kept = ended(plan, molecules, tmp_path)
    problem = build_problem(plan, molecules)
    C = results["groups"]["all"] if strategy == "mm" else results["setting"]["C"]
    total = np.zeros((17, 3))
    for fit_rows, held_rows in cross_validation_folds(molecules, problem.train_rows, 5, plan.seed):
        rows = [
            (take_rows(molecules.features, r), molecules.target[r]) for r in (fit_rows, held_rows)
        ]
        total += RnaFolder(C).fit(*rows[0]).pair_counts(*rows[1]).sum(axis=0)
    right, called, true = total[:-1].T
    f1 = np.nan_to_num(safe_ratio(2 * right, called + true))
    at = GAMMAS.tolist().index(kept.gamma)
    assert f1[at] == pytest.approx(f1.max(), abs=0.01)
    assert to_plain(results["gamma"]) == {"tuned": kept.gamma, "default": 4.0}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"gamma": 0.0}, "γ = 0 is out of range"),
        ({"gamma_by": "luck"}, "there is no way “luck”"),
        ({"gamma_by": "sensitivity", "sensitivity": 1.5}, "a sensitivity of 1.5"),
    ],
)
def test_what_cannot_be_is_refused(molecules, changes, says):
    with pytest.raises(UnusableError, match=says):
        build_problem(PLAN.changed(**changes), molecules)
