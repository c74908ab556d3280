"""Against CONTRAfold-SE: what the published program printed for measured molecules.

The program adds probabilities in single precision with a cubic log(1 + exp(x)) and drops what is
smaller by exp(−11.86): under trained parameters that is up to 3 in 10,000 of log Z.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from core.losses.rna import log_partition, pair_probabilities
from core.losses.rna.parameters import MOTIFS, NAMES


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.fixture(scope="module")
def published(shared_data: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Parameter sets by name, and letters by molecule."""
    table = rows(shared_data / "rna_oracle" / "parameters.csv")
    sets = {name: np.array([float(row[name]) for row in table]) for name in ("trained", "random1")}
    molecules = rows(shared_data / "rna_s151rfam.csv")
    return sets, {row["id"]: row["sequence"].upper().replace("T", "U") for row in molecules}


def test_parameters_are_those_of_the_table_in_its_order(shared_data: Path) -> None:
    table = rows(shared_data / "rna_oracle" / "parameters.csv")
    assert [row["name"] for row in table] == NAMES
    assert (len(NAMES), len(set(MOTIFS))) == (708, 15)


def test_what_the_program_printed(
    shared_data: Path, published: tuple[dict[str, np.ndarray], dict[str, str]]
) -> None:
    sets, letters = published
    printed = rows(shared_data / "rna_oracle" / "log_partition.csv")
    assert len(printed) == 52
    for row in printed:
        w, molecule = sets[row["parameters"]], letters[row["id"]]
        expected = float(row["log_partition"])
        trained = row["parameters"] == "trained"
        found = log_partition(w, molecule, 0)
        assert abs(found - expected) < 2e-4 + (3e-4 if trained else 1e-5) * abs(expected)


def test_pair_probabilities_that_the_program_printed(
    shared_data: Path, published: tuple[dict[str, np.ndarray], dict[str, str]]
) -> None:
    sets, letters = published
    printed: dict[tuple[str, str], dict[tuple[int, int], float]] = {}
    for row in rows(shared_data / "rna_oracle" / "pair_posteriors.csv"):
        place = (int(row["i"]) - 1, int(row["j"]) - 1)
        of_one = printed.setdefault((row["id"], row["parameters"]), {})
        of_one[place] = float(row["probability"])
    assert len(printed) == 12
    for (molecule, name), known in printed.items():
        expected = np.zeros((len(letters[molecule]),) * 2)
        for place, probability in known.items():
            expected[place] = probability
        found = pair_probabilities(sets[name], letters[molecule], 0)
        np.testing.assert_allclose(found, expected, atol=2e-3)
