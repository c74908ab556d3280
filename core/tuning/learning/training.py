"""What a penalty learner minimizes, the loss of a table among it, and the fit that it finds."""

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from core.datasets.groups import penalty_groups
from core.datasets.preparation import output_names, output_sources
from core.losses.linear.linear_loss import LinearLoss
from core.losses.registry import TableLoss, as_estimator, build_loss, parameter_groups
from core.optimize.loss import Loss
from core.tuning.events import Event
from core.tuning.problem import Problem, Split, fit_prepared, take_rows


@dataclass(frozen=True)
class PenaltyTraining:
    """The loss on the training rows, and the group of each of its parameters."""

    group_names: list[str]
    groups: np.ndarray  # of every parameter, shape (n,), −1 for intercepts
    loss: Loss  # −log p(training rows | w)

    @property
    def group_sizes(self) -> dict[str, int]:
        counts = np.bincount(self.groups[self.groups >= 0], minlength=len(self.group_names))
        return {name: int(count) for name, count in zip(self.group_names, counts, strict=True)}

    @property
    def counted(self) -> np.ndarray | None:
        """Which parameters occur in the training data, boolean, shape (n,); None for all."""
        return None

    @property
    def occurrences(self) -> np.ndarray | None:
        """How often each occurs, shape (n,); None where this means nothing."""
        return None

    def loss_pair(self, problem: Problem, split: Split) -> tuple[Loss, Loss]:
        """The losses of two parts of the training rows, with the same parameters."""
        raise NotImplementedError

    def pipeline(
        self, w: np.ndarray, penalties: dict[str, float], classes: tuple[Any, ...]
    ) -> Pipeline:
        raise NotImplementedError

    @property
    def group_of_output(self) -> tuple[int, ...]:
        """The group of every prepared column; empty where parameters are not columns."""
        return ()

    def noise_variance(self, w: np.ndarray) -> float | None:
        """σ² of a linear model with learned noise; None for others."""
        return None

    def without_rows(self) -> Self:
        return self

    def display_event(self, step: int, w: np.ndarray) -> Event | None:
        """A few examples at w, for views; None for tables."""
        return None


Training = PenaltyTraining  # the name of earlier versions


@dataclass(frozen=True)
class TableTraining(PenaltyTraining):
    """The loss of a linear model on the training rows."""

    loss: TableLoss
    prepare: Any  # the fitted preparation
    group_of_column: np.ndarray  # the group of every prepared column
    # what a numeric target was divided by; penalties and norms are those of the quotient
    unit: float = 1.0

    def loss_pair(self, problem: Problem, split: Split) -> tuple[TableLoss, TableLoss]:
        dataset, (fit_rows, held_rows) = problem.dataset, split
        # Fitted on the rows to fit alone: held-out rows must not tell it their means.
        prepare = clone(problem.preparation())
        matrices = [
            prepare.fit_transform(take_rows(dataset.features, fit_rows), dataset.target[fit_rows]),
            prepare.transform(take_rows(dataset.features, held_rows)),
        ]
        # Such a preparation may lack a category: its column is then zero.
        selection = _selection(output_names(prepare), output_names(self.prepare))
        if selection is not None:
            products = [X @ selection for X in matrices]
            matrices = [X if sparse.issparse(X) else np.asarray(X) for X in products]
        fit_X, held_X = matrices
        return (
            self.loss.for_data(fit_X, _in_unit(dataset.target[fit_rows], self.unit)),
            self.loss.for_data(held_X, _in_unit(dataset.target[held_rows], self.unit)),
        )

    @property
    def group_of_output(self) -> tuple[int, ...]:
        return tuple(int(group) for group in self.group_of_column)

    def noise_variance(self, w: np.ndarray) -> float | None:
        # In the unit of the loss: the ridge penalties are σ² C_j there.
        loss = self.loss
        return float(loss.noise_variance(w)) if isinstance(loss, LinearLoss) else None

    def without_rows(self) -> Self:
        # One row has to stay: a loss has at least that; columns, unit and least noise are kept.
        return replace(self, loss=self.loss.subset(np.arange(1)))

    def pipeline(
        self, w: np.ndarray, penalties: dict[str, float], classes: tuple[Any, ...]
    ) -> Pipeline:
        C = next(iter(penalties.values())) if len(penalties) == 1 else None
        model = as_estimator(self.loss, w, C=C, classes=np.asarray(classes) if classes else None)
        # Ridge penalties σ² C do not depend on the unit, coefficients do.
        if self.unit != 1.0:
            model.coef_, model.intercept_ = self.unit * model.coef_, self.unit * model.intercept_
        return Pipeline([("prepare", self.prepare), ("model", model)])


def table_training(
    problem: Problem, rows: np.ndarray, like: TableTraining | None = None
) -> TableTraining:
    """The loss on some rows, with a preparation fitted there and the unit of `like`."""
    dataset = problem.dataset
    prepare = clone(problem.preparation())
    X = fit_prepared(prepare, dataset, rows)
    # The unit is kept, so that penalties mean the same.
    unit = _target_unit(problem, dataset.target[rows]) if like is None else like.unit
    loss = build_loss(problem.model.loss[dataset.task], X, _in_unit(dataset.target[rows], unit))
    # Another floor of the noise would make the same C another ridge penalty.
    if like is not None and isinstance(like.loss, LinearLoss) and isinstance(loss, LinearLoss):
        loss = LinearLoss(loss.design, loss.y, like.loss.floor_share)
    columns, sources = output_names(prepare), output_sources(prepare)
    names, column_groups = penalty_groups(problem.plan.groups, columns, sources)
    groups = parameter_groups(loss, column_groups)
    return TableTraining(names, groups, loss, prepare, column_groups, unit)


def _target_unit(problem: Problem, target: np.ndarray) -> float:
    if not problem.dataset.task.has_numbers or not problem.plan.standardize:
        return 1.0
    # A constant target has no spread to divide by.
    return float(target.std()) / problem.options.target_spread or 1.0


def _in_unit(target: np.ndarray, unit: float) -> np.ndarray:
    return target if unit == 1.0 else target / unit


def _selection(source_names: list[str], target_names: list[str]) -> sparse.csr_matrix | None:
    """The 0–1 matrix from columns `source_names` to `target_names`; None where they are equal."""
    if source_names == target_names:
        return None
    targets = {name: column for column, name in enumerate(target_names)}
    pairs = [(row, targets[name]) for row, name in enumerate(source_names) if name in targets]
    rows, columns = np.array(pairs, dtype=int).reshape(-1, 2).T
    ones = np.ones(len(rows))
    return sparse.csr_matrix((ones, (rows, columns)), shape=(len(source_names), len(target_names)))


@dataclass(frozen=True)
class PenaltyFit:
    """The model at the learned penalties, fitted on all training rows."""

    training: PenaltyTraining
    w: np.ndarray  # parameters, shape (n,)
    penalties: dict[str, float]  # {group: C}
    classes: tuple[Any, ...]
    switched_off: list[str] = field(default_factory=list)  # groups without a weight
    ranges: dict[str, list[float]] | None = None  # {group: lowest, highest C of single folds}
    holdout_loss: float | None = None  # of the rows that were held out, if any
    remarks: tuple[str, ...] = ()
    noise_variance: float | None = None  # σ² of a linear model with learned noise

    def pipeline(self) -> Pipeline:
        return self.training.pipeline(self.w, self.penalties, self.classes)

    def without_rows(self) -> Self:
        return replace(self, training=self.training.without_rows())
