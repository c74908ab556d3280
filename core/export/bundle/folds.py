"""Structures of new molecules from the named arrays of a folding model.

An exported script holds this file's source, and the program itself predicts through it too. The
arrays are described in core.export.files.parameter_arrays.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from core.export.bundle.members import weighted_mean
from core.export.bundle.reading import UnreadableError, columns_of
from core.losses.rna.decode import maximum_expected_accuracy
from core.losses.rna.fold import pair_probabilities

BASES = "ACGUTN"
AMBIGUOUS = "RYSWKMBDHV"  # these stand for several bases, and are read as N
NAMES_OF_MOLECULES = ("id", "name", "molecule", "accession")


def predicted(
    arrays: Mapping[str, np.ndarray], text: str, tell: Callable[[int, int], None]
) -> tuple[list[str], list[list[Any]]]:
    """The structure of every molecule of a table.

    Args:
        arrays: the model.
        text: CSV with a column of letters; a column called id, name, molecule or accession is kept.
        tell: (molecules done, molecules) after every one.

    Returns:
        A header, and one row a molecule: its name where there is one, letters, structure in
        dot-bracket notation, expected accuracy, and mean probability of its pairs ("" without any).

    Raises:
        UnreadableError: a column is missing, or a letter is no base.
    """
    settings = json.loads(str(arrays["settings"]))
    column, reading = settings["sequence"], settings["reading"]
    columns, lines = columns_of(text, [column], reading["quote"], reading["padded"])
    named = [name for name in columns if name.strip().lower() in NAMES_OF_MOLECULES][:1]
    molecules = [bases_of(*one, column) for one in zip(columns[column], lines, strict=True)]
    _tell_ambiguous(molecules)
    rows = []
    for place, letters in enumerate(molecules):
        try:
            P = _pairs(arrays, letters, settings["shortest_hairpin"])
        except MemoryError:
            what = f"there is not enough memory to fold {len(letters):,} bases"
            where = f"line {lines[place]}, column {column}"
            raise UnreadableError(what, where, "cut the molecule into parts") from None
        structure = str(maximum_expected_accuracy(P, settings["gamma"]))
        own = [columns[name][place] for name in named]
        rows.append([*own, letters, structure, *sureness(P, structure)])
        tell(place + 1, len(molecules))
    header = [*named, column, "structure", "expected accuracy", "mean pair probability"]
    return header, rows


def _pairs(arrays: Mapping[str, np.ndarray], letters: str, shortest: int) -> np.ndarray:
    """The probabilities of base pairs, (L, L)."""
    return weighted_mean(arrays, lambda weights: pair_probabilities(weights, letters, shortest))


def bases_of(cell: str, line: int, column: str) -> str:
    """The letters in a cell, without blanks around.

    Raises:
        UnreadableError: there are none, or one is no base.
    """
    letters = cell.strip()
    if not letters:
        raise UnreadableError("the sequence is empty", f"line {line}, column {column}")
    for place, letter in enumerate(letters):
        if letter.upper() not in BASES + AMBIGUOUS:
            cure = "use A, C, G, U (or T), and N for a base that is not known"
            what = f"letter {place + 1} is “{letter}”"
            raise UnreadableError(what, f"line {line}, column {column}", cure)
    return letters


def _tell_ambiguous(molecules: list[str]) -> None:
    """Warn where letters are read as N."""
    counts = [sum(map(letters.upper().count, AMBIGUOUS)) for letters in molecules]
    total, some = sum(counts), sum(count > 0 for count in counts)
    if total:
        stand = "1 letter stands" if total == 1 else f"{total:,} letters stand"
        where = f"in {some:,} of {len(counts):,} molecules"
        said = f"{stand} for several bases, {where}, and {'is' if total == 1 else 'are'} read as N."
        warnings.warn(said, stacklevel=2)


def sureness(probabilities: Any, structure: str) -> tuple[float, float | str]:
    """How sure the model is of a structure.

    Args:
        probabilities: of base pairs i < j, shape (L, L).
        structure: L characters.

    Returns:
        The expected share of bases that are as it says (paired with that partner, or unpaired),
        and the mean probability of its pairs, "" without pairs.
    """
    unpaired = 1.0 - probabilities.sum(axis=0) - probabilities.sum(axis=1)
    opened: list[int] = []
    pairs = []
    for place, sign in enumerate(structure):
        if sign == "(":
            opened.append(place)
        elif sign == ")":
            pairs.append(float(probabilities[opened.pop(), place]))
    alone = sum(float(unpaired[i]) for i, sign in enumerate(structure) if sign == ".")
    accuracy = (2.0 * sum(pairs) + alone) / len(structure)
    return min(max(accuracy, 0.0), 1.0), min(sum(pairs) / len(pairs), 1.0) if pairs else ""
