"""The short form of the bench: nothing that may be this dataset teaches, nothing is asked twice."""

import pytest

from tests.benchmarks.simulations.history_coverage import figures


@pytest.mark.slow
def test_every_figure_lies_in_its_bounds():
    measured = list(figures(100))
    assert [figure.name for figure in measured if not figure.is_reached] == []
    assert min(figure.sets for figure in measured[:2]) >= 8
