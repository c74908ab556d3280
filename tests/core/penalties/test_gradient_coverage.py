"""What the validation gradient tells of groups whose truth is known: a few tables of the bench."""

from __future__ import annotations

import pytest

from tests.benchmarks.simulations.gradient_coverage import told_of


@pytest.mark.slow
def test_noise_is_not_said_to_matter_more_than_a_true_group() -> None:
    tellings = [told_of(seed, "automatic") for seed in range(9)]
    assert not any(telling.is_told_wrongly or telling.true_off for telling in tellings)
    assert sum(telling.told_share for telling in tellings) / 9 > 0.4
    one_part = [told_of(seed, "holdout") for seed in range(9)]
    # What the order would be without folds, and what it costs.
    assert sum(telling.is_misordered for telling in one_part) > 1
    assert sum(telling.told_share for telling in one_part) == 0.0
    gains = [one.loss - folds.loss for one, folds in zip(one_part, tellings, strict=True)]
    assert sum(gains) > 0.0
