"""What is held out of the training data: for the gradient, against the default, and for γ."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import numpy as np
import pytest
from run_events import InProcess

from core.datasets.reading import read_dataset
from core.datasets.splitting import cross_validation_folds
from core.errors import UnusableError
from core.estimators.structured.crf_tagger import CrfTagger
from core.estimators.structured.rna_folder import RnaFolder
from core.losses.rna.decode import GAMMAS
from core.records import to_plain
from core.tuning.events import Event, HyperGradientStep
from core.tuning.learning.holdout import (
    at_sensitivity,
    best_f1,
    compare_with_default,
    holdout_pairs,
    holdout_remarks,
    resolved_options,
)
from core.tuning.learning.learning_run import LearningRun, training_of
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import take_rows
from core.tuning.problem_setup import build_problem
from core.tuning.runs.best import best_of
from core.tuning.runs.run_clock import RunClock
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import RunState
from core.tuning.scores.metric import safe_ratio
from core.tuning.tune import tune


def problem_of(file: str, strategy: str = "mm", **changes):
    plan = Plan(DataPlan(file), "crf", strategy, groups="column").changed(**changes)
    return build_problem(plan, read_dataset(file))


def compared(problem, penalties):
    """What comes of penalties against the default; {group: C}, 0.5 for the others."""
    training = training_of(problem)
    C = np.array([penalties.get(name, 0.5) for name in training.group_names])
    return compare_with_default(problem, training, C, training.loss.initial_weights())


RUINOUS = dict.fromkeys(("initial", "transition", "word", "unique"), 1e4)


def test_penalties_that_ruin_the_model_lose_and_those_that_help_are_kept(sentences) -> None:
    problem = problem_of(sentences(80, unique=True))
    comparison = compared(problem, RUINOUS)
    assert comparison.loses
    assert "the default is kept" in comparison.remark
    assert "sequences of the training data held out" in comparison.remark
    comparison = compared(problem, {"unique": 50.0})
    assert (comparison.loses, comparison.remark) == (False, "")


def test_the_losses_that_are_told_are_those_of_taggers_fitted_to_the_other_sequences(
    sentences,
) -> None:
    problem = problem_of(sentences(80, unique=True), groups="single")
    (group,) = training_of(problem).group_names
    remark = compared(problem, {group: 300.0}).remark
    told = remark.split("log loss a token ")[1].split(")")[0].split(" against ")

    def losses(fit_rows, held_rows):
        (fit_X, fit_y), (held_X, held_y) = (
            (take_rows(problem.dataset.features, rows), problem.dataset.target[rows])
            for rows in (fit_rows, held_rows)
        )
        assert not set(fit_X["sequence"]) & set(held_X["sequence"])
        taggers = [CrfTagger(C).fit(fit_X, fit_y) for C in (300.0, 1.0)]
        return [tagger.log_losses(held_X, held_y).mean() for tagger in taggers]

    # By hand, of one of the fifths.
    folds = cross_validation_folds(problem.dataset, problem.train_rows, 5, problem.plan.seed)
    assert any(losses(*fold) == pytest.approx([float(x) for x in told], rel=0.01) for fold in folds)


def test_a_run_whose_penalties_lose_ends_with_the_default_model_and_says_so(sentences) -> None:
    path = sentences(80, unique=True)
    # All penalties start at their largest and may hardly move.
    options = {"validation": "holdout", "start": 11.0, "steps": 1, "prior": "none", "low": 0.0}
    plan = Plan(DataPlan(path), "crf", "gradient", options=options, groups="column")
    results = list(tune(plan, read_dataset(path)))[-1].results
    assert set(results["groups"].values()) == {1.0}
    assert results["test"]["joint_log_loss"] == pytest.approx(
        results["default_test"]["joint_log_loss"], rel=1e-3
    )
    assert any("the default is kept" in said for said in results["remarks"])


def test_too_few_sequences_to_hold_out_are_said(sentences) -> None:
    comparison = compared(problem_of(sentences(20, unique=True)), RUINOUS)
    assert not comparison.loses
    assert comparison.remark.startswith("With 14 sequences to train on, too few could be held out")


@pytest.mark.parametrize(
    ("count", "groups", "expected"),
    [(80, "column", "folds"), (80, "single", "holdout"), (20, "single", "folds")],
)
def test_few_held_out_sequences_a_penalty_are_all_held_out_in_turns(
    sentences, count, groups, expected
) -> None:
    problem = problem_of(sentences(count, unique=True), "gradient", groups=groups)
    training = training_of(problem)
    options = resolved_options(problem, training)
    # 56 or 14 sequences to train on: a quarter is 14 or 3, and four kinds would need 20.
    assert (options["validation"], options["prior"]) == (expected, "weak")
    assert len(holdout_pairs(problem, training)) == (1 if expected == "holdout" else 5)


def test_a_table_has_folds_where_its_minutes_suffice() -> None:
    dataset = read_dataset("sample:groups")
    plan = Plan(DataPlan("sample:groups"), "logistic", "gradient", groups="single")
    problem = build_problem(plan, dataset)
    # Every outer fold has an equal part of the minutes.
    needed = 79 * len(problem.train_rows) / 3e6 * (1 + len(problem.outer))
    cases = ((None, "folds"), (1.01 * needed, "folds"), (0.99 * needed, "holdout"))
    for minutes, expected in cases:
        problem = build_problem(plan.changed(minutes=minutes), dataset)
        assert resolved_options(problem, training_of(problem))["validation"] == expected


def test_a_run_continued_with_more_minutes_keeps_its_one_part() -> None:
    plan = Plan(DataPlan("sample:groups"), "logistic", "gradient", groups="single")
    problem = build_problem(plan, read_dataset("sample:groups"))

    def steps(minutes: float, past: list[Event]) -> list[HyperGradientStep]:
        changed = replace(problem, plan=plan.changed(minutes=minutes))
        run = LearningRun(changed, RunState(), RunClock(), deque())
        return [event for event in run.events(past) if isinstance(event, HyperGradientStep)]

    first = HyperGradientStep(fits=1)  # of a run that had no time for folds
    rest = steps(60.0, [first])
    assert rest[-1].ranges is None
    assert steps(60.0, [first, *rest[:2]]) == rest[2:]
    *_, last = steps(60.0, [])
    assert set(last.ranges) == set(last.d)


def test_a_table_has_no_prior() -> None:
    plan = Plan(DataPlan("sample:groups"), "logistic", "gradient")
    problem = build_problem(plan, read_dataset("sample:groups"))
    assert resolved_options(problem, training_of(problem))["prior"] == "none"


def test_more_penalties_than_held_out_sequences_are_said(sentences) -> None:
    automatic = problem_of(sentences(20, unique=True), "gradient")
    options = automatic.options.changed(validation="holdout")
    training = training_of(automatic)
    single, remark = holdout_remarks(replace(automatic, options=options), training)
    assert single.startswith("One part of the training data, held out, chose the penalties")
    assert remark.startswith("4 penalties were learned from 3 sequences held out")
    assert not holdout_remarks(automatic, training)


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
    *_, last = tune(plan, dataset, folder=folder, executor=InProcess)
    return last.results, best_of(folder)[-1]


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
