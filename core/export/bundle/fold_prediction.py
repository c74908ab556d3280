"""Structures of molecules from `core.export.bundle.rna_carrier`; carried into scripts."""

import json
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from core.export.bundle.csv_rows import UnreadableError, cell_format_of, columns_of
from core.export.bundle.member_arrays import weighted_mean
from core.losses.rna.decode import maximum_expected_accuracy
from core.losses.rna.fold import pair_probabilities

BASES = "ACGUTN"
AMBIGUOUS = "RYSWKMBDHV"  # these stand for several bases, and are read as N
NAMES_OF_MOLECULES = ("id", "name", "molecule", "accession")


def predict_table(
    arrays: Mapping[str, np.ndarray], text: str, report: Callable[[int, int], None]
) -> tuple[list[str], list[list[Any]]]:
    """Header and rows: a molecule's name, if any, letters, structure, and `structure_confidence`.

    The text is CSV with a column of letters; one called id, name, molecule or accession is kept. An
    UnreadableError says that a column is missing, or a letter is no base.
    """
    settings = json.loads(str(arrays["settings"]))
    column, shortest = settings["sequence"], settings["shortest_hairpin"]
    columns, lines = columns_of(text, [column], cell_format_of(settings))
    name_columns = [name for name in columns if name.strip().lower() in NAMES_OF_MOLECULES][:1]
    pairs = zip(columns[column], lines, strict=True)
    molecules = [bases_of(cell, line, column) for cell, line in pairs]
    _warn_ambiguous(molecules)
    rows = []
    for position, letters in enumerate(molecules):
        try:
            P = _mean_pair_probabilities(arrays, letters, shortest)
        except MemoryError:
            message = f"there is not enough memory to fold {len(letters):,} bases"
            where = f"line {lines[position]}, column {column}"
            raise UnreadableError(message, where, "cut the molecule into parts") from None
        structure = str(maximum_expected_accuracy(P, settings["gamma"]))
        name_cells = [columns[name][position] for name in name_columns]
        rows.append([*name_cells, letters, structure, *structure_confidence(P, structure)])
        report(position + 1, len(molecules))
    header = [*name_columns, column, "structure", "expected accuracy", "mean pair probability"]
    return header, rows


def _mean_pair_probabilities(
    arrays: Mapping[str, np.ndarray], letters: str, shortest: int
) -> np.ndarray:
    return weighted_mean(arrays, lambda weights: pair_probabilities(weights, letters, shortest))


def bases_of(cell: str, line: int, column: str) -> str:
    """The letters in a cell; UnreadableError where there are none, or one is no base."""
    letters = cell.strip()
    if not letters:
        raise UnreadableError("the sequence is empty", f"line {line}, column {column}")
    for position, letter in enumerate(letters):
        if letter.upper() not in BASES + AMBIGUOUS:
            cure = "use A, C, G, U (or T), and N for a base that is not known"
            message = f"letter {position + 1} is “{letter}”"
            raise UnreadableError(message, f"line {line}, column {column}", cure)
    return letters


def _warn_ambiguous(molecules: list[str]) -> None:
    counts = [sum(map(letters.upper().count, AMBIGUOUS)) for letters in molecules]
    letter_count, molecule_count = sum(counts), sum(count > 0 for count in counts)
    if letter_count:
        stand = "1 letter stands" if letter_count == 1 else f"{letter_count:,} letters stand"
        where = f"in {molecule_count:,} of {len(counts):,} molecules"
        verb = "is" if letter_count == 1 else "are"
        warning = f"{stand} for several bases, {where}, and {verb} read as N."
        warnings.warn(warning, stacklevel=2)


def structure_confidence(probabilities: Any, structure: str) -> tuple[float, float | str]:
    """The expected share of right bases, and the mean probability of the pairs, "" without pairs.

    The probabilities are those of base pairs i < j, (L, L), of a structure of L characters.
    """
    unpaired = 1.0 - probabilities.sum(axis=0) - probabilities.sum(axis=1)
    open_positions: list[int] = []
    paired_probabilities = []
    for position, sign in enumerate(structure):
        if sign == "(":
            open_positions.append(position)
        elif sign == ")":
            paired_probabilities.append(float(probabilities[open_positions.pop(), position]))
    unpaired_sum = sum(float(unpaired[i]) for i, sign in enumerate(structure) if sign == ".")
    total = sum(paired_probabilities)
    accuracy = min(max((2.0 * total + unpaired_sum) / len(structure), 0.0), 1.0)
    return accuracy, min(total / len(paired_probabilities), 1.0) if paired_probabilities else ""
