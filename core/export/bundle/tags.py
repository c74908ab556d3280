"""Labels for new sequences from the named arrays of a linear-chain CRF.

An exported script holds this file's source, and the program itself predicts through it too. The
arrays are described in core.export.files.parameter_arrays.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from core.export.bundle.members import weighted_mean
from core.export.bundle.reading import UnreadableError, columns_of, number_of
from core.losses.crf.chain import marginals, viterbi


class EncodedTokens:
    """The features of new tokens; tokens that have the same cells are one unit.

    Attributes:
        starts: where every sequence starts, and the number of tokens, shape (sequences + 1,).
        unit: the unit of every token, shape (N,).
        begins: where a unit's features begin in ``features``, shape (U + 1,).
        features: the category features of one unit after another.
        numbers: standardized numbers of every unit, 0 where missing, shape (U, Q).
        number_features: which features these are, shape (Q,).
    """

    def __init__(self, starts: Any, unit: Any, begins: Any, features: Any, numbers: Any) -> None:
        self.starts = np.array(starts, dtype=np.int64)
        self.unit = np.array(unit, dtype=np.int32)
        self.begins = np.array(begins, dtype=np.int64)
        self.features = np.array(features, dtype=np.int32)
        self.number_features = np.array([f for f, _ in numbers], dtype=np.int32)
        wide = (len(begins) - 1, len(numbers))
        self.numbers = np.array([x for _, x in numbers], dtype=np.float64).reshape(wide[::-1]).T
        self.numbers = np.ascontiguousarray(self.numbers)


def predicted(
    arrays: Mapping[str, np.ndarray], text: str, tell: Callable[[int, int], None]
) -> tuple[list[str], list[list[Any]]]:
    """Labels of every token of a table.

    Args:
        arrays: the model.
        text: CSV with the sequence and the feature columns in any order; the target may be there.
        tell: (tokens done, tokens) at the end.

    Returns:
        A header, and one row a token: its sequence, its label, and the probability of every label.

    Raises:
        UnreadableError: a column is missing, a number is none, or a sequence comes back.
    """
    settings = json.loads(str(arrays["settings"]))
    reading, sequence = settings["reading"], settings["sequence"]
    names = [str(name) for name in arrays["columns"]]
    columns, lines = columns_of(text, [sequence, *names], reading["quote"], reading["padded"])
    starts = starts_of_sequences(columns[sequence], lines, sequence)
    tokens = encoded(arrays, reading, [columns[name] for name in names], starts, lines)
    classes = [str(one) for one in arrays["classes"]]
    K = len(classes)
    p = weighted_mean(arrays, lambda weights: marginals(weights, K, tokens))
    whole = settings["decoding"] == "viterbi" and arrays["weights"].ndim == 1
    best = viterbi(arrays["weights"], K, tokens) if whole else p.argmax(axis=1)
    tell(len(lines), len(lines))
    header = [sequence, "prediction", *(f"probability of {one}" for one in classes)]
    rows = zip(columns[sequence], best.tolist(), p.tolist(), strict=True)
    return header, [[name, classes[code], *shares] for name, code, shares in rows]


def starts_of_sequences(names: list[str], lines: list[int], column: str) -> list[int]:
    """Where every sequence starts, and the number of tokens.

    Raises:
        UnreadableError: a token has no sequence, or a sequence comes back after another one.
    """
    starts: list[int] = []
    seen: set[str] = set()
    before = None
    for row, name in enumerate(names):
        if name == before:
            continue
        if not name.strip():
            raise UnreadableError("no sequence is named", f"line {lines[row]}, column {column}")
        if name in seen:
            what = f"sequence “{name}” comes back after another one"
            cure = "let the rows of a sequence follow each other"
            raise UnreadableError(what, f"line {lines[row]}, column {column}", cure)
        seen.add(name)
        starts.append(row)
        before = name
    return [*starts, len(names)]


def encoded(
    arrays: Mapping[str, np.ndarray],
    reading: Mapping[str, Any],
    cells: list[list[str]],
    starts: list[int],
    lines: list[int],
) -> EncodedTokens:
    """The features of tokens; a missing or unknown value is none.

    Args:
        arrays: the model.
        reading: how numbers and missing values are written.
        cells: the cells of every feature column, in the model's order.
        starts: where every sequence starts, and the number of tokens.
        lines: of the file, one a token, for complaints.
    """
    unit, first_rows = units(cells, len(lines))
    active: list[list[int]] = [[] for _ in first_rows]
    numbers: list[tuple[int, list[float]]] = []
    first = 0
    for place, name in enumerate(str(one) for one in arrays["columns"]):
        values = arrays[f"values_{place}"].tolist()
        missing = _missing_words(reading["missing"], name)
        if values:
            code = {value: first + k for k, value in enumerate(values) if value not in missing}
            for features, row in zip(active, first_rows, strict=True):
                if cells[place][row] in code:
                    features.append(code[cells[place][row]])
        else:
            scale = float(arrays["means"][place]), float(arrays["deviations"][place])
            own = [(cells[place][row], lines[row]) for row in first_rows]
            numbers.append((first, standardized(own, name, scale, missing, reading)))
        first += max(1, len(values))
    begins = np.concatenate(([0], np.cumsum([len(features) for features in active])))
    flat = [feature for features in active for feature in features]
    return EncodedTokens(starts, unit, begins, flat, numbers)


def units(cells: list[list[str]], rows: int) -> tuple[list[int], list[int]]:
    """The unit of every token, numbered as they first come, and the first row of every unit."""
    if not cells:
        return [0] * rows, [0]
    unit_of: dict[tuple[str, ...], int] = {}
    unit, first_rows = [], []
    for row, key in enumerate(zip(*cells, strict=True)):
        if key not in unit_of:
            unit_of[key] = len(unit_of)
            first_rows.append(row)
        unit.append(unit_of[key])
    return unit, first_rows


def standardized(
    cells: list[tuple[str, int]],
    column: str,
    scale: tuple[float, float],
    missing: set[str],
    reading: Mapping[str, Any],
) -> list[float]:
    """The numbers in (cell, line) of a column less their mean over their deviation; 0 if missing.

    Raises:
        UnreadableError: a cell is no number.
    """
    mean, deviation = scale
    decimal, thousands = reading["decimal"], reading["thousands"]
    return [
        0.0
        if cell.strip() in missing
        else (number_of(cell, line, column, decimal, thousands) - mean) / deviation
        for cell, line in cells
    ]


def _missing_words(words: Any, column: str) -> set[str]:
    return set(words.get(column, ()) if isinstance(words, dict) else words)
