"""What all texts of a column are, asked of Arrow's buffers without an object for every cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.column_format import NOTHING
from core.datasets.columns import (
    LONG_SAMPLE,
    MAX_FREQUENT,
    ColumnCount,
    are_long,
    has_many_levels,
    spread_step,
)

_MAX_WORDS = 1000  # that are looked at one by one
_EDGES = np.zeros(256, dtype=bool)  # letters at whose side blanks would have to go
_EDGES[:33] = True
_DIGITS = np.zeros(256, dtype=bool)
_DIGITS[list(b"-0123456789")] = True
_LONGEST_NOTHING = max(map(len, NOTHING))
_FIRST_MOMENT = np.datetime64("0001-01-01", "us").astype(np.int64)


@dataclass(frozen=True)
class PlainTexts:
    """The texts of a column that reads as it is written, unless they are numbers or dates.

    Attributes:
        words: some of the different ones, in their order of appearance.
        frequencies: how often each of these was seen.
        different: an Arrow array of all of them, or of those in evenly spaced rows of many.
        codes: of every row, its place in `different` or −1 where missing; None of many.
    """

    words: list[str]
    frequencies: np.ndarray
    different: Any
    count: ColumnCount
    codes: np.ndarray | None

    def are_iso_dates(self) -> bool:
        if self.words[0][4:5] != "-":  # as of 2024-12-31
            return False
        import pyarrow as pa

        try:
            moments = self.different.cast(pa.timestamp("us"))
        except pa.ArrowInvalid:
            return False
        return bool(moments.cast(pa.int64()).to_numpy().min() >= _FIRST_MOMENT)


def plain_texts(values: pd.Series) -> PlainTexts | None:
    """The texts of a column in Arrow's memory; None for others, and where any may be rewritten.

    Plain are ASCII texts without blanks at their ends that are no spellings of nothing and begin
    with no digit where there is a full stop.
    """
    if not isinstance(values.dtype, pd.StringDtype) or values.dtype.storage != "pyarrow":
        return None
    import pyarrow as pa

    cells = pa.array(values.array)
    cells = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    filled = cells.drop_null() if cells.null_count else cells
    if not len(filled):
        return None
    step = spread_step(len(filled))
    spread = filled if step == 1 else filled.take(np.arange(0, len(filled), step))
    different, codes = _encoded(spread)
    counts = np.bincount(codes)
    frequent = different.take(np.argsort(-counts, kind="stable")[:MAX_FREQUENT])
    is_sample = has_many_levels(len(filled), len(different))
    if not (is_sample or spread is cells):  # a rare word decides, too
        different, codes = _encoded(cells)
        counts = np.bincount(codes + 1)[1:]
    if not _are_plain(filled if is_sample else different):
        return None
    count = ColumnCount(
        cells.null_count,
        len(different),
        tuple(frequent.to_pylist()),
        are_long(_thinned(spread, LONG_SAMPLE)),
    )
    words = _thinned(different, _MAX_WORDS)
    frequencies = counts[:: spread_step(len(different), _MAX_WORDS)]
    small = codes.astype(np.min_scalar_type(-len(different)))
    return PlainTexts(words, frequencies, different, count, None if is_sample else small)


def _encoded(texts: Any) -> tuple[Any, np.ndarray]:
    """The different texts in their order of appearance, and every row's, −1 where missing."""
    import pyarrow.compute as pc

    encoded = pc.dictionary_encode(texts)
    return encoded.dictionary, encoded.indices.fill_null(-1).to_numpy()


def _thinned(texts: Any, count: int) -> list[str]:
    return texts.take(np.arange(0, len(texts), spread_step(len(texts), count))).to_pylist()


def _are_plain(texts: Any) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    _, offset_buffer, letter_buffer = texts.buffers()
    width = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    ends = np.frombuffer(offset_buffer, width)[texts.offset : texts.offset + len(texts) + 1]
    letters = np.frombuffer(letter_buffer, np.uint8)[: ends[-1]]
    lengths = np.diff(ends)
    if not lengths.min() or letters[ends[0] :].max() > 126:
        return False
    firsts, lasts = letters[ends[:-1]], letters[ends[1:] - 1]
    if _EDGES[firsts].any() or _EDGES[lasts].any():
        return False
    if lengths.min() <= _LONGEST_NOTHING:
        short = texts.filter(pa.array(lengths <= _LONGEST_NOTHING))
        if pc.any(pc.is_in(short, pa.array(NOTHING, texts.type))).as_py():
            return False
    return not _DIGITS[firsts].any() or not (letters[ends[0] :] == ord(".")).any()
