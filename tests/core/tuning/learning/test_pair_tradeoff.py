"""γ of the folding model: given, or chosen on training molecules held out, and kept with it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.datasets.reading import read_dataset
from core.datasets.splits.splitting import cross_validation_folds
from core.errors import UnusableError
from core.estimators.structured.rna_folder import RnaFolder
from core.losses.rna.decode import GAMMAS
from core.records import to_plain
from core.tuning.learning.pair_tradeoff import at_sensitivity, best_f1
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import build_problem, take_rows
from core.tuning.runs.best import best_of
from core.tuning.runs.run_folder import RunFolder
from core.tuning.scores.metric import safe_ratio
from core.tuning.tune import tune

PLAN = Plan(DataPlan("sample:molecules", test_size=0.7), "rna", "mm", options={"max_steps": 1})


@pytest.fixture(scope="module")
def molecules():
    """The 40 shortest of the sample: a fold costs the cube of the length."""
    whole = read_dataset("sample:molecules")
    lengths = [len(letters) for letters in whole.table.iloc[:, 0]]
    kept = np.sort(np.argsort(lengths, kind="stable")[:40])
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
