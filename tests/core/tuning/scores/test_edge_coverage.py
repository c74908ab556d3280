"""Intervals cover at the edge: a few sets of the simulated tables of the benchmark."""

from __future__ import annotations

import pytest

from tests.benchmarks.simulations.edge_coverage import (
    FAMILIES,
    NESTED,
    class_figures,
    nested_figures,
)

pytestmark = pytest.mark.slow
SETS = 60


@pytest.mark.parametrize("family", [FAMILIES[0], FAMILIES[2]], ids=lambda family: family.name)
def test_rare_classes_and_perfect_scores_are_covered(family):
    for figure in class_figures(SETS, (family,)):
        low, high = (0.85, 1.0) if figure.name.startswith("coverage") else (0.0, 0.15)
        assert low <= figure.value <= high, figure.name


@pytest.mark.parametrize("nested", [NESTED[0], NESTED[3], NESTED[4]], ids=lambda n: n.metric)
def test_nested_cross_validation_covers(nested):
    for figure in nested_figures(SETS, (nested,), ()):
        assert 0.85 <= figure.value <= 1.0, figure.name
