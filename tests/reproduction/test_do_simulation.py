"""The simulated sequences of Do 2008, and what a long measurement keeps."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reproduction.do_simulation import METHODS, label_errors, simulate_sequences
from tests.reproduction.kept_work import Checkpoint


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


@pytest.mark.slow
def test_every_method_labels_better_than_chance_where_all_features_tell():
    errors = label_errors(10, 40, 0)
    assert tuple(errors) == METHODS
    assert max(errors.values()) < 0.35


def test_a_line_cut_short_is_passed_over(tmp_path):
    kept = Checkpoint("table", tmp_path)
    kept.record_result("a", 1)
    kept.record_result("b", 2)
    path = tmp_path / "table.jsonl"
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole[:-4], encoding="utf-8")
    again = Checkpoint("table", tmp_path)
    assert again["a"] == 1
    assert "b" not in again
    again.record_result("b", 3)
    assert Checkpoint("table", tmp_path)["b"] == 3
