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


class TestGp(_Suite):
    @pytest.fixture
    def sampler(self):
        return tunescope.GpSampler


class TestHybrid(_Suite):
    @pytest.fixture
    def sampler(self):
        return tunescope.HybridSampler


class TestVariable(_Suite):
    @pytest.fixture
    def sampler(self):
        return tunescope.VariableSampler


class TestEbHyp(_Suite):
    @pytest.fixture
    def sampler(self):
        return tunescope.EbHypSampler


class TestTransfer(_Suite):
    @pytest.fixture
    def sampler(self):
        return tunescope.TransferSampler


class TestScot(_Suite):
    @pytest.fixture
    def sampler(self):
        return tunescope.ScotSampler


class TestGrid(_Suite):
    @pytest.fixture
    def sampler(self):
        return tunescope.GridSampler
