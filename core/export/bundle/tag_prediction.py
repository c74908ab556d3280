"""Labels for sequences from `core.export.bundle.crf_carrier`; carried into scripts."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from core.export.bundle.csv_rows import (
    CellFormat,
    UnreadableError,
    cell_format_of,
    columns_of,
    number_of,
)
from core.export.bundle.member_arrays import weighted_mean
from core.losses.crf.chain import marginals, viterbi


class EncodedTokens:
    """The features of N new tokens; tokens that have the same cells are one of U units."""

    def __init__(self, starts: Any, unit: Any, begins: Any, features: Any, numbers: Any) -> None:
        self.starts = np.array(starts, dtype=np.int64)  # of sequences, then N
        self.unit = np.array(unit, dtype=np.int32)  # of every token, (N,)
        self.begins = np.array(begins, dtype=np.int64)  # of a unit in `features`, (U + 1,)
        self.features = np.array(features, dtype=np.int32)  # categories of one unit after another
        self.number_features = np.array([f for f, _ in numbers], dtype=np.int32)  # (Q,)
        shape = (len(begins) - 1, len(numbers))
        self.numbers = np.array([x for _, x in numbers], dtype=np.float64).reshape(shape[::-1]).T
        self.numbers = np.ascontiguousarray(self.numbers)  # standardized, 0 if missing, (U, Q)


def predict_table(
    arrays: Mapping[str, np.ndarray], text: str, report: Callable[[int, int], None]
) -> tuple[list[str], list[list[Any]]]:
    """Header and rows: every token's sequence, label, and the probability of every label.

    The text is CSV with the sequence and the feature columns in any order; the target may be there.
    An UnreadableError says that a column is missing, a number is none, or a sequence comes back.
    """
    settings = json.loads(str(arrays["settings"]))
    cell_format, sequence = cell_format_of(settings), settings["sequence"]
    names = [str(name) for name in arrays["columns"]]
    columns, lines = columns_of(text, [sequence, *names], cell_format)
    starts = starts_of_sequences(columns[sequence], lines, sequence)
    tokens = encode_tokens(arrays, cell_format, [columns[name] for name in names], starts, lines)
    classes = [str(label) for label in arrays["classes"]]
    K = len(classes)
    p = weighted_mean(arrays, lambda weights: marginals(weights, K, tokens))
    is_viterbi = settings["decoding"] == "viterbi" and arrays["weights"].ndim == 1
    best = viterbi(arrays["weights"], K, tokens) if is_viterbi else p.argmax(axis=1)
    report(len(lines), len(lines))
    header = [sequence, "prediction", *(f"probability of {label}" for label in classes)]
    rows = zip(columns[sequence], best.tolist(), p.tolist(), strict=True)
    return header, [[name, classes[code], *shares] for name, code, shares in rows]


def starts_of_sequences(names: list[str], lines: list[int], column: str) -> list[int]:
    """Where sequences start, and the count; UnreadableError: no sequence, or one comes back."""
    starts: list[int] = []
    seen_names: set[str] = set()
    previous_name = None
    for row, name in enumerate(names):
        if name == previous_name:
            continue
        if not name.strip():
            raise UnreadableError("no sequence is named", f"line {lines[row]}, column {column}")
        if name in seen_names:
            message = f"sequence “{name}” comes back after another one"
            cure = "let the rows of a sequence follow each other"
            raise UnreadableError(message, f"line {lines[row]}, column {column}", cure)
        seen_names.add(name)
        starts.append(row)
        previous_name = name
    return [*starts, len(names)]


def encode_tokens(
    arrays: Mapping[str, np.ndarray],
    cell_format: CellFormat,
    cells: list[list[str]],
    starts: list[int],
    lines: list[int],
) -> EncodedTokens:
    """The features of tokens with `cells` of every column; a missing or unknown value is none."""
    unit, first_rows = token_units(cells, len(lines))
    active_features: list[list[int]] = [[] for _ in first_rows]
    numbers: list[tuple[int, list[float]]] = []
    first = 0
    for position, name in enumerate(str(column) for column in arrays["columns"]):
        values = arrays[f"values_{position}"].tolist()
        missing = cell_format.missing_words(name)
        if values:
            code = {value: first + k for k, value in enumerate(values) if value not in missing}
            for features, row in zip(active_features, first_rows, strict=True):
                if cells[position][row] in code:
                    features.append(code[cells[position][row]])
        else:
            scale = float(arrays["means"][position]), float(arrays["deviations"][position])
            numbered_cells = [(cells[position][row], lines[row]) for row in first_rows]
            numbers.append((first, standardize_cells(numbered_cells, name, scale, cell_format)))
        first += max(1, len(values))
    begins = np.concatenate(([0], np.cumsum([len(features) for features in active_features])))
    flat_features = [feature for features in active_features for feature in features]
    return EncodedTokens(starts, unit, begins, flat_features, numbers)


def token_units(cells: list[list[str]], rows: int) -> tuple[list[int], list[int]]:
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


def standardize_cells(
    cells: list[tuple[str, int]], column: str, scale: tuple[float, float], cell_format: CellFormat
) -> list[float]:
    """(Number − mean) / deviation of (cell, line), 0 if missing; UnreadableError: no number."""
    (mean, deviation), missing = scale, cell_format.missing_words(column)
    return [
        0.0
        if cell.strip() in missing
        else (number_of(cell, line, column, cell_format) - mean) / deviation
        for cell, line in cells
    ]
