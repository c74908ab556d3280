"""What is held out of the training data: for the validation gradient, against the default, for γ.

Learned penalties of sequences and molecules have to beat the default by the log loss of held-out
training data.

The weight γ of a base pair beside an unpaired base: every training molecule is folded once by a
model fitted without it. γ is the one of `GAMMAS` with the best F1 of all these pairs, or the
smallest one that reaches the wanted sensitivity.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| U | ``units.count`` | | what is independent of the training rows: rows, patients, sequences |
| k | ``penalties`` | | groups whose penalties are learned |
| C | ``C`` | (k,) | penalties; 1 by default |
| | ``losses`` | (units,) | −log p of every held-out sequence or molecule, in nats |
| γ | ``GAMMAS`` | (16,) | from cautious to generous |
| | ``pairs`` | (16, 3) | pairs rightly called, called and true, of all molecules |
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from core.datasets.splitting import cross_validation_folds
from core.datasets.units import Units
from core.optimize.descent import per_weight, solve_penalized
from core.optimize.loss import Loss
from core.options import StrategyOptions
from core.tuning.learning.training import PenaltyFit, PenaltyTraining
from core.tuning.problem import Problem, Split, take_rows
from core.tuning.scores.metric import safe_ratio
from core.tuning.scores.structured_metrics import GAMMAS, OWN
from core.wording import count_text

HOLDOUT_PARTS = 4  # one holdout split: a quarter of the training rows
_FOLD_COUNT = 5
_MIN_UNITS = 5  # held out; a difference of fewer is meaningless
_CLOSE = 1e-7  # share of the loss within which both fits are at their minimum
_GAMMA_TOLERANCE = 1e-6  # the same of the models that choose γ: only the order of pairs counts
MIN_UNITS_PER_PENALTY = 5  # held-out units; penalties overfit fewer
# Of a table, for folds and their ranges: some 200 fits of at most 100 ns a value were measured.
_VALUES_A_MINUTE = 3_000_000
_USUAL_MINUTES = 10.0  # of a run without a limit


def resolved_options(problem: Problem, training: PenaltyTraining) -> StrategyOptions:
    """The learner's options, with the automatic ones resolved by the data."""
    options = problem.options
    if options.validation == "automatic":
        has_turns = takes_turns(problem, _penalty_count(training))
        # The default of five folds must not be refused for few units.
        folds = min(options.folds, max(2, _train_units(problem).count))
        options = options.changed(validation="folds" if has_turns else "holdout", folds=folds)
    if options.prior == "automatic":
        options = options.changed(prior="weak" if problem.dataset.task.is_structured else "none")
    return options


def takes_turns(problem: Problem, penalty_count: int) -> bool:
    """Whether every part is held out in turns: as planned, in time, or a quarter is too few."""
    if problem.options.validation != "automatic":
        return problem.options.validation == "folds"
    dataset, minutes = problem.dataset, problem.minutes
    share = len(problem.train_rows) / dataset.rows
    values = share * stored_values(dataset.features, len(dataset.classes))
    if dataset.task.is_structured:
        minutes = 0.0  # their time does not follow from the values
    return prefers_folds(_train_units(problem).count, penalty_count, values, minutes)


def prefers_folds(
    units: int, penalty_count: int, values: float, minutes: float | None = None
) -> bool:
    """Whether folds of so many values fit the minutes, or a quarter of the units is too few."""
    # One part trusted noise more than a true group on 36 % of generated tables, folds on 6 %
    # (tests/benchmarks/simulations/gradient_coverage.py).
    # By count, not by the clock: a resumed run repeats its steps.
    max_values = _VALUES_A_MINUTE * (_USUAL_MINUTES if minutes is None else minutes)
    return values <= max_values or units // HOLDOUT_PARTS < MIN_UNITS_PER_PENALTY * penalty_count


def stored_values(X: Any, classes: int) -> int:
    """Rows times columns, of a sparse table what is not 0; times the classes of three or more."""
    count = X.nnz if sparse.issparse(X) else X.shape[0] * X.shape[1]
    return int(count) * (classes if classes > 2 else 1)


def holdout_pairs(problem: Problem, training: PenaltyTraining) -> list[tuple[Loss, Loss]] | None:
    """(loss to fit, loss to validate on) of every part; None for learners that need none."""
    if not problem.strategy.holds_out:
        return None
    options = resolved_options(problem, training)
    is_single = options.validation == "holdout"
    count = HOLDOUT_PARTS if is_single else options.folds
    splits = cross_validation_folds(problem.dataset, problem.train_rows, count, problem.plan.seed)
    return [training.loss_pair(problem, split) for split in (splits[:1] if is_single else splits)]


def holdout_remarks(problem: Problem, training: PenaltyTraining) -> tuple[str, ...]:
    """Sentences where few units were held out, and where one part alone was."""
    if not problem.strategy.holds_out:
        return ()
    remarks, units = [], _train_units(problem)
    if resolved_options(problem, training).validation == "holdout":
        units = units.take_rows(np.flatnonzero(units.index < units.count // HOLDOUT_PARTS))
        if len(training.group_sizes) > 1:
            remarks.append(
                "One part of the training data, held out, chose the penalties: which group "
                "matters more is not certain. Folds would tell (option validation=folds); they "
                "take about seven times as long."
            )
    penalty_count = _penalty_count(training)
    if penalty_count > units.count:
        remarks.append(
            f"{penalty_count:,} penalties were learned from {units.count_text} held out: such "
            "penalties fit these few, not what comes after. Fewer groups, folds or the strategy mm "
            "are safer."
        )
    return tuple(remarks)


def _train_units(problem: Problem) -> Units:
    return problem.units.take_rows(problem.train_rows)


def _penalty_count(training: PenaltyTraining) -> int:
    return sum(size > 0 for size in training.group_sizes.values())


@dataclass(frozen=True)
class DefaultComparison:
    """Whether the learned penalties lose against the default, and a remark or ""."""

    loses: bool = False
    remark: str = ""


def compare_with_default(
    problem: Problem, training: PenaltyTraining, C: np.ndarray, w: np.ndarray
) -> DefaultComparison:
    """Compare learned penalties C, (k,), with C = 1 on held-out training data, starting from w."""
    # Tables are compared on test rows; penalties learned from every unit in turns leave none.
    if not problem.dataset.task.is_structured or np.allclose(C, 1.0):
        return DefaultComparison()
    fold_count, fold = _FOLD_COUNT, 0
    if problem.strategy.holds_out:
        if resolved_options(problem, training).validation == "folds":
            return DefaultComparison()
        fold_count, fold = HOLDOUT_PARTS, 1  # fold 0 chose the penalties
    units, item = _train_units(problem), problem.dataset.task.item
    if units.count // fold_count < _MIN_UNITS:
        return DefaultComparison(
            remark=f"With {units.count_text} to train on, too few could be held "
            "out to see whether the learned penalties do better than the default."
        )
    dataset, seed = problem.dataset, problem.plan.seed
    split = cross_validation_folds(dataset, problem.train_rows, fold_count, seed)[fold]
    (fit, _), held_rows = training.loss_pair(problem, split), split[1]
    # The same part is fitted with both penalties, so that nothing else tells them apart.
    fitted = (_minimizing_weights(fit, training, c, w, _CLOSE) for c in (C, np.ones_like(C)))
    learned, default = (_unit_losses(problem, training, v, held_rows) for v in fitted)
    gaps = learned - default
    # Written so that a NaN, of a single unit, keeps what was learned.
    # Worse by more than a standard error of the paired difference.
    if not gaps.mean() > float(gaps.std(ddof=1)) / np.sqrt(len(gaps)):
        return DefaultComparison()
    row_count = len(held_rows)
    return DefaultComparison(
        True,
        f"The learned penalties did worse than the default on {count_text(len(gaps), item)} of the "
        f"training data held out (log loss a {problem.dataset.task.unit} "
        f"{learned.sum() / row_count:.3g} against {default.sum() / row_count:.3g}): the default "
        "is kept.",
    )


def _minimizing_weights(
    loss: Loss, training: PenaltyTraining, C: np.ndarray, w: np.ndarray, tolerance: float
) -> np.ndarray:
    return solve_penalized(loss, per_weight(C, training.groups), w, tolerance=tolerance).point.w


def _unit_losses(
    problem: Problem, training: PenaltyTraining, w: np.ndarray, held_rows: np.ndarray
) -> np.ndarray:
    """−log p of every held-out unit with parameters w, shape (units,)."""
    dataset = problem.dataset
    model = training.pipeline(w, {}, dataset.classes)[-1]
    losses = model.log_losses(take_rows(dataset.features, held_rows), dataset.target[held_rows])
    return problem.units.take_rows(held_rows).unit_sums(losses)


@dataclass(frozen=True)
class GammaChoice:
    """A chosen γ, and a remark or ""."""

    gamma: float
    remark: str = ""


def choose_gamma(
    problem: Problem, pipeline: Pipeline, learned: PenaltyFit | None
) -> GammaChoice | None:
    """The γ for a fitted folding model; None where it is planned, or nothing is folded."""
    if not problem.dataset.task.has_pairs or problem.plan.gamma_by == "hand":
        return None
    # Every molecule is folded by a model that has not seen it: of its own training molecules a
    # model is too sure.
    dataset, total = problem.dataset, np.zeros((len(GAMMAS), 3))
    count = min(_FOLD_COUNT, len(problem.train_rows))
    folds = cross_validation_folds(dataset, problem.train_rows, count, problem.plan.seed)
    for split in folds:
        model = _fit_fold_model(problem, pipeline, learned, split)
        X, y = take_rows(dataset.features, split[1]), dataset.target[split[1]]
        # Beside those of `GAMMAS`, a row of the counts is of the model's own γ.
        total += model.pair_counts(X, y).sum(axis=0)[:OWN]
    if problem.plan.gamma_by == "f1":
        return GammaChoice(best_f1(total))
    return at_sensitivity(total, problem.plan.sensitivity)


def best_f1(pairs: np.ndarray) -> float:
    """The γ with the best F1; the smallest of equally good ones."""
    right, called, true = pairs.T
    return float(GAMMAS[np.argmax(np.nan_to_num(safe_ratio(2.0 * right, called + true)))])


def at_sensitivity(pairs: np.ndarray, min_sensitivity: float) -> GammaChoice:
    """The smallest γ that reaches the sensitivity, or the largest."""
    right, _, true = pairs.T
    sensitivities = np.nan_to_num(safe_ratio(right, true))
    sufficient_indices = np.flatnonzero(sensitivities >= min_sensitivity)
    if len(sufficient_indices):
        return GammaChoice(float(GAMMAS[sufficient_indices[0]]))
    return GammaChoice(
        float(GAMMAS[-1]),
        f"No γ finds {100 * min_sensitivity:.0f} % of the true pairs of training molecules held "
        f"out; the largest one, which was taken, finds {100 * sensitivities[-1]:.0f} %.",
    )


def _fit_fold_model(
    problem: Problem, pipeline: Pipeline, learned: PenaltyFit | None, split: Split
) -> Any:
    if learned is None:
        X, y = take_rows(problem.dataset.features, split[0]), problem.dataset.target[split[0]]
        return clone(pipeline).fit(X, y)[-1]
    training = learned.training
    fit, _ = training.loss_pair(problem, split)
    C = np.array([learned.penalties[name] for name in training.group_names])
    # Begun at the weights on all rows, which are close.
    w = _minimizing_weights(fit, training, C, learned.w, _GAMMA_TOLERANCE)
    return training.pipeline(w, learned.penalties, ())[-1]


def with_gamma(pipeline: Pipeline, gamma: float) -> Pipeline:
    """The same fitted model, folding with another γ."""
    pipeline[-1].set_gamma(gamma)
    return pipeline
