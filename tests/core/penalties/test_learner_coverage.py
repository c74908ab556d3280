"""Leave-one-out as it is told, units that count, genes beside a grid: a few tables of the bench."""

from __future__ import annotations

import pytest

from tests.benchmarks.simulations.learner_coverage import (
    beside_folds,
    genes,
    patients,
    repeated_rows,
    told_figure,
)


def test_loo_tells_its_formula_at_exact_weights() -> None:
    assert told_figure(25).value < 0.2


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["loo", "evidence"])
@pytest.mark.parametrize("draw", [repeated_rows, patients])
def test_rows_that_belong_together_are_learned_from_as_folds_of_them_would_be(draw, learner):
    # Rows that count by themselves are at 1.1 to 3.3 times the loss of the folds.
    assert beside_folds("", draw, 6, learner, 1.03).value < 1.06


@pytest.mark.slow
def test_genes_are_predicted_as_by_a_grid() -> None:
    assert beside_folds("", genes, 4, "loo", 1.05).value < 1.1
