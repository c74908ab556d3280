"""Our samplers in Optuna's own suite for samplers."""

from __future__ import annotations

import pytest

import tunescope

suites = pytest.importorskip("optuna.testing.pytest_samplers", reason="an Optuna without its suite")


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
class _Suite(
    suites.BasicSamplerTestCase, suites.RelativeSamplerTestCase, suites.SingleOnlySamplerTestCase
):
    """Everything that Optuna asks of a sampler of one objective that proposes whole settings."""


def _suite_of(kind: type) -> type:
    return type(f"Test{kind.__name__}", (_Suite,), {"sampler": pytest.fixture(lambda self: kind)})


TestGp = _suite_of(tunescope.GpSampler)
TestHybrid = _suite_of(tunescope.HybridSampler)
TestVariable = _suite_of(tunescope.VariableSampler)
TestEbHyp = _suite_of(tunescope.EbHypSampler)
TestTransfer = _suite_of(tunescope.TransferSampler)
TestScot = _suite_of(tunescope.ScotSampler)
TestGrid = _suite_of(tunescope.GridSampler)
