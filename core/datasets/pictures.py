"""Columns that are the pixels of a picture: its size, and the position of each column.

| symbol | meaning |
| --- | --- |
| D | columns |
| h, w | height and width of the picture, in pixels; pixel i is in row i // w |
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

MAX_ASPECT_RATIO = 3.0  # longer ones are series, no pictures
_MIN_SIDE = 4  # of named rows and columns
_MIN_SQUARE_SIDE = 8  # of columns that are merely numbered
_HANDWRITING = 28  # side of MNIST, whose files end at the last pixel that varies
_CELL = re.compile(r"(.*?\D|)(\d{1,9})[ _x,.:\-](\d{1,9})\D?")
_NUMBERED = re.compile(r"(.*?\D|)(\d{1,9})")
_PIXEL_WORDS = {"p", "px", "pix", "pixel", "pixels", "image", "img", "grey", "gray"}


def picture_shape(names: Sequence[str], rows: np.ndarray | None = None) -> tuple[int, int] | None:
    """Height and width of the picture whose pixels the D columns are; None where they are none.

    - "pixel_12_30": row and column, with the same word before; constant columns may be missing.
    - "p0" … "p1849", a word for pixels and a number: a square, its last row cut short at most, else
      the most similar factors, upright unless `rows`, shape (n, D), say otherwise.
    - "feature 1" … "feature 784", any word: squares from 8, and 28 × 28 without the last pixels.
    """
    # Names with row and column leave nothing to guess.
    cells = _pixel_cells(names)
    if cells is not None:
        height, width = (cells.max(axis=0) + 1).tolist()
        return (height, width) if _is_plausible(height, width, len(names)) else None
    word, numbers = _pixel_numbers(names)
    if numbers is None:
        return None
    count, pixels = int(numbers.max()) + 1, word in _PIXEL_WORDS
    # Files leave out columns that are 0 in every row: the first and last pixels of handwriting.
    gaps, side = count > len(names), math.isqrt(count - 1) + 1
    cut = (pixels and gaps) or (side == _HANDWRITING and not gaps)
    min_side = _MIN_SIDE if pixels else _MIN_SQUARE_SIDE
    if side >= min_side and (side * side == count or (cut and count > side * (side - 1))):
        fits = (pixels or not gaps) and _is_plausible(side, side, len(names))
        return (side, side) if fits else None
    shapes = _oblongs(count, len(names)) if pixels else []
    # Upright and lying have the same factors; in the right one, pixels below each other are alike.
    if len(shapes) > 1 and rows is not None:
        shapes.sort(key=lambda shape: _roughness(rows, numbers, shape[1]))
    return shapes[0] if shapes else None


def pixel_sources(names: Sequence[str], shape: tuple[int, int]) -> np.ndarray:
    """The column that every pixel is drawn from, the nearest for a missing one, shape (h · w,)."""
    cells = _pixel_cells(names)
    if cells is None:
        numbers = _pixel_numbers(names)[1]
        assert numbers is not None
        cells = np.stack(np.divmod(numbers, shape[1]), axis=1)
    sources = np.full(shape, -1)
    sources[tuple(cells.T)] = np.arange(len(names))
    for row, column in zip(*np.nonzero(sources < 0), strict=True):
        distances = ((cells - (row, column)) ** 2).sum(axis=1)
        sources[row, column] = int(distances.argmin())
    return sources.ravel()


def _matched_names(pattern: re.Pattern[str], names: Sequence[str]) -> tuple[str, np.ndarray] | None:
    """The word before the numbers and the numbers, all different, shape (D, groups − 1)."""
    matches = [match for match in map(pattern.fullmatch, names) if match]
    words = {match[1] for match in matches}
    if not matches or len(matches) < len(names) or len(words) > 1:
        return None
    numbers = np.array([[int(digits) for digits in match.groups()[1:]] for match in matches])
    return (words.pop(), numbers) if len(np.unique(numbers, axis=0)) == len(names) else None


def _pixel_cells(names: Sequence[str]) -> np.ndarray | None:
    """Row and column of every name, from 0, shape (D, 2); None where names do not have them."""
    matched = _matched_names(_CELL, names)
    return None if matched is None else matched[1] - (0 if (matched[1] == 0).any() else 1)


def _pixel_numbers(names: Sequence[str]) -> tuple[str, np.ndarray | None]:
    """The word before the numbers, and every name's number, from 0; None where there are none."""
    matched = _matched_names(_NUMBERED, names)
    if matched is None:
        return "", None
    word, numbers = matched[0].strip(" _.-:").lower(), matched[1][:, 0]
    first = numbers.min() if word not in _PIXEL_WORDS else min(1, int(numbers.min()))
    return word, numbers - first


def _oblongs(pixels: int, count: int) -> list[tuple[int, int]]:
    widths = [w for w in range(math.isqrt(pixels), 0, -1) if pixels % w == 0]
    sizes = [size for w in widths for size in ((pixels // w, w), (w, pixels // w))]
    return [size for size in sizes if _is_plausible(*size, count)]


def _is_plausible(height: int, width: int, count: int) -> bool:
    short, long = sorted((height, width))
    return short >= _MIN_SIDE and long <= MAX_ASPECT_RATIO * short and 2 * count >= height * width


def _roughness(rows: np.ndarray, numbers: np.ndarray, width: int) -> float:
    _, above, below = np.intersect1d(numbers + width, numbers, return_indices=True)
    return float(((rows[:, above] - rows[:, below]) ** 2).mean())
