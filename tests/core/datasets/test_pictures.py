"""Pixels are known by their columns' names, and where constant ones are missing too."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from core.datasets.pictures import picture_shape, pixel_sources


def cells(height, width, word="pixel", first=0):
    return [f"{word}_{r + first}_{c + first}" for r in range(height) for c in range(width)]


def numbered(count, word="p", first=0):
    return [f"{word}{n}" for n in range(first, first + count)]


@pytest.mark.parametrize(
    ("names", "shape"),
    [
        (cells(8, 8), (8, 8)),
        (cells(8, 8, first=1), (8, 8)),
        (cells(28, 28, "", 1)[3:], (28, 28)),  # "_1_4", the first ones constant
        ([f"{r}x{c}" for r in range(1, 29) for c in range(1, 29)], (28, 28)),  # as OpenML has it
        ([f"img[{r},{c}]" for r in range(5) for c in range(9)], (5, 9)),
        (cells(50, 37), (50, 37)),
        (cells(37, 50), (37, 50)),
        (numbered(1850), (50, 37)),
        (numbered(1850, "Pixel ", 1), (50, 37)),
        (numbered(784, "pixel", 1), (28, 28)),
        (numbered(768, "pixel", 12), (28, 28)),  # 12 … 779: the ends are constant
        (numbered(784, "feature ", 1), (28, 28)),
        (numbered(779, "feature ", 1), (28, 28)),
        (numbered(256, "column ", 2), (16, 16)),
        (numbered(64, "x"), (8, 8)),
        (numbered(36, "p"), (6, 6)),
    ],
)
def test_names_that_are_pixels(names, shape):
    assert picture_shape(names) == shape
    mixed = list(np.random.default_rng(0).permutation(names))
    assert picture_shape(mixed) == shape


@pytest.mark.parametrize(
    "names",
    [
        [],
        ["age", "weight", "height"],
        [*cells(8, 8), "age"],
        cells(2, 30),  # too flat
        cells(5, 100),  # five series of a hundred moments
        cells(8, 8)[::3],  # most of it missing
        numbered(36, "x"),  # too small for a square of mere numbers
        numbered(123, "feature ", 1),
        numbered(1849, "feature ", 2)[:-3],
        [n for n in numbered(64, "x") if n != "x7"],  # a gap
        numbered(61, "p"),  # a prime
        numbered(64, "pixel", 10**19),  # moments in time
        [f"p{10**20 + r}_{c}" for r in range(5) for c in range(5)],
        ["x_1_1", "x_1_1"],
        ["V1", "V1"],
        ["mean", "mean"],
    ],
)
def test_names_that_are_none(names):
    assert picture_shape(names) is None


@pytest.mark.parametrize(("height", "width"), [(12, 20), (20, 12), (16, 15), (15, 16)])
def test_rows_tell_the_size_of_an_oblong_picture(height, width):
    rng = np.random.default_rng(1)
    drift = 0.3 * rng.normal(size=(30, height, width)).cumsum(axis=1)
    stripes = rng.normal(size=(30, 1, width)) + drift
    names = numbered(height * width)
    assert picture_shape(names) == (16, 15)  # the names alone
    assert picture_shape(names, stripes.reshape(30, -1)) == (height, width)


def test_every_pixel_is_drawn_from_its_own_column():
    X = load_digits().data
    names = cells(8, 8)
    order = np.random.default_rng(2).permutation(64)
    sources = pixel_sources([names[at] for at in order], (8, 8))
    np.testing.assert_array_equal(X[:, order][:, sources], X)
    by_number = pixel_sources([f"p{at}" for at in order], (8, 8))
    np.testing.assert_array_equal(by_number, sources)


def test_a_missing_pixel_is_drawn_as_the_nearest_one():
    X = load_digits().data
    varied = np.flatnonzero(X.std(axis=0) > 0)
    assert len(varied) == 61  # the corner above, and the middles of the edges
    names = [name for at, name in enumerate(cells(8, 8)) if at in varied]
    sources = pixel_sources(names, picture_shape(names))
    pictures = X[:, varied][:, sources]
    np.testing.assert_array_equal(pictures[:, varied], X[:, varied])
    assert names[sources[0]] in ("pixel_0_1", "pixel_1_0")
    missing = np.setdiff1d(np.arange(64), varied)
    assert abs(pictures - X)[:, missing].mean() < 0.5  # grey of 16
