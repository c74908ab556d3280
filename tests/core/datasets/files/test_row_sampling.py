"""Rows drawn at random: each as likely as any other, the same for a seed, classes in shares."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from scipy.stats import chisquare

from core.datasets.files.row_sampling import (
    RowFormat,
    count_labels,
    draw_rows,
    rows_of,
    sample_lines,
)

CSV = RowFormat(header=True, delimiter=b",", quote=b'"', place=-1)


def test_every_row_is_as_likely_as_any_other():
    """Of 40 rows 10 are drawn 4,000 times: counts by a chi-square test, and pairs as well."""
    found = np.zeros(40)
    together = 0
    for seed in range(4000):
        rows = draw_rows(40, 10, seed)
        assert len(set(rows.tolist())) == 10
        assert (np.diff(rows) > 0).all()
        found[rows] += 1
        together += {0, 1} <= set(rows.tolist())
    # Without replacement the counts vary less than a chi-square has it, by 1 − 10/40.
    assert chisquare(found).statistic / 0.75 == pytest.approx(39, abs=4 * np.sqrt(2 * 39))
    expected = 4000 * (10 / 40) * (9 / 39)
    assert abs(together - expected) < 4 * np.sqrt(expected)


def test_rows_of_a_class_are_as_likely_as_each_other_and_classes_have_their_shares():
    codes = np.repeat([0, 1, 2], [600, 300, 100])[np.random.default_rng(0).permutation(1000)]
    found = np.zeros(1000)
    for seed in range(2000):
        rows = draw_rows(1000, 200, seed, codes)
        assert np.bincount(codes[rows]).tolist() == [120, 60, 20]
        found[rows] += 1
    # All three classes give a fifth of their rows, so that every row comes 400 times.
    assert np.abs(found - 400).max() < 5 * np.sqrt(2000 * 0.2 * 0.8)


def test_a_rare_class_keeps_twenty_rows_and_the_number_stays():
    codes = np.repeat([0, 1, 2], [9900, 98, 2])
    rows = draw_rows(10_000, 100, 1, codes)
    assert np.bincount(codes[rows]).tolist() == [78, 20, 2]
    for size in (1, 3, 5, 9_999, 10_000):
        assert len(draw_rows(10_000, size, 1, codes)) == size
    np.testing.assert_array_equal(draw_rows(10, 10, 5), np.arange(10))


def test_the_same_seed_gives_the_same_rows_and_another_seed_others():
    np.testing.assert_array_equal(draw_rows(1000, 100, 7), draw_rows(1000, 100, 7))
    assert set(draw_rows(1000, 100, 7)) != set(draw_rows(1000, 100, 8))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_rows_are_those_that_python_reads(end):
    """Line ends, delimiters and doubled quotes inside of quotes; quotes inside of other cells."""
    table = [
        ["1", "plain", "a"],
        ["2", f"two{end}lines, and a comma", "b"],
        ["3", 'a "word"', "a"],
        ["4", f'"{end}"', "b"],
        ["5", "", "a"],
    ]
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator=end).writerows([["id", "text", "label"], *table])
    raw = text.getvalue() + f'{end}6,5" pipe,b{end}   {end}7,last,a'
    rows = list(rows_of(io.BytesIO(raw.encode()), CSV))
    read = [next(csv.reader(io.StringIO(row.decode(), newline=""))) for row in rows]
    assert read == [*table, ["6", '5" pipe', "b"], ["7", "last", "a"]]
    total, codes = count_labels(rows, CSV)
    assert total == 7
    assert codes.tolist() == [0, 1, 0, 1, 0, 1, 0]


TEXTS = ("plain", "two\nlines, and more", 'a "word", b', '"\n"', "", "back\\slash", 'end"', "\\")


@pytest.mark.parametrize(
    ("reading", "dialect"),
    [
        (b"doubled", {}),
        (b"doubled", {"quoting": csv.QUOTE_ALL}),
        (b"escaped", {"doublequote": False, "escapechar": "\\"}),
        (b"escaped", {"quoting": csv.QUOTE_NONE, "escapechar": "\\"}),
    ],
)
def test_rows_of_other_readings(reading, dialect):
    table = [[str(i), text, "ab"[i % 2]] for i, text in enumerate(TEXTS * 3)]
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n", **dialect).writerows([["id", "text", "label"], *table])
    form = RowFormat(0, True, b",", b'"', -1, reading, padded=False)
    rows = list(rows_of(io.BytesIO(text.getvalue().encode()), form))
    read = [next(csv.reader(io.StringIO(row.decode(), newline=""), **dialect)) for row in rows]
    assert read == table
    assert count_labels(rows, form)[1].tolist() == [i % 2 for i in range(len(table))]


def test_rows_where_quotes_are_letters_or_close_late():
    letters = RowFormat(0, False, b",", b'"', -1, b"letters", padded=False)
    assert list(rows_of(io.BytesIO(b'"a,b\n1,"c\n'), letters)) == [b'"a,b\n', b'1,"c\n']
    outer = RowFormat(0, False, b",", b'"', -1, b"outer", padded=False)
    rows = [b'1,"he "said" no\nand left",b\n', b'2, "c,d\n']
    assert list(rows_of(io.BytesIO(b"".join(rows)), outer)) == rows


def test_labels_of_libsvm_lines_and_too_many_of_them():
    text = b"# nothing\n1 1:2\n-1 qid:3 2:4 # -1\n\n1\n"
    total, codes = count_labels(rows_of(io.BytesIO(text), RowFormat()), RowFormat())
    assert (total, codes.tolist()) == (3, [0, 1, 0])
    many = b"".join(b"%d 1:1\n" % k for k in range(300))
    assert count_labels(rows_of(io.BytesIO(many), RowFormat()), RowFormat()) == (300, None)


def test_what_stands_before_the_rows_stays():
    text = b"made by X\n\na,label\n" + b"".join(b"%d,%d\n" % (k, k % 2) for k in range(50))
    form, into = RowFormat(2, True, b",", b'"', -1), io.BytesIO()
    chosen, total, shares = sample_lines(lambda: io.BytesIO(text), form, 10, 3, into)
    assert (total, shares) == (50, True)
    lines = into.getvalue().splitlines()
    assert lines[:3] == [b"made by X", b"", b"a,label"]
    assert [int(line.split(b",")[0]) for line in lines[3:]] == chosen.tolist()
