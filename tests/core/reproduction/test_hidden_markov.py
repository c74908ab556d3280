"""The simulated sequences of Do 2008: shares as the paper states them, and the compared methods."""

from __future__ import annotations

import numpy as np
import pytest

from core.losses.crf.crf_loss import build_crf
from core.reproduction.hidden_markov import METHODS, label_errors, simulate_sequences


@pytest.fixture(scope="module")
def drawn():
    return simulate_sequences(2000, 5, np.random.default_rng(0))


def test_states_start_evenly_and_stay_with_probability_six_tenths(drawn):
    _, states = drawn
    by_sequence = states.reshape(2000, 10)
    assert np.mean(by_sequence[:, 0] == "1") == pytest.approx(0.5, abs=0.04)
    assert np.mean(by_sequence[:, 1:] == by_sequence[:, :-1]) == pytest.approx(0.6, abs=0.015)


def test_only_relevant_features_tell_the_state(drawn):
    table, states = drawn
    agree = [np.mean(table[f"x{j + 1}"].to_numpy() == states) for j in range(40)]
    assert agree[:5] == pytest.approx([0.6] * 5, abs=0.015)
    assert agree[5:] == pytest.approx([0.5] * 35, abs=0.015)


def test_the_model_has_the_parameters_of_the_paper(drawn):
    table, states = drawn
    assert build_crf(table, "sequence", states, ["0", "1"]).size == 2 + 4 + 160


def test_every_method_labels_better_than_chance_where_all_features_tell():
    errors = label_errors(10, 40, 0)
    assert tuple(errors) == METHODS
    assert max(errors.values()) < 0.35
    assert label_errors(10, 40, 0) == errors
