"""Cells that mean the same to a person are equal, however they are written."""

from __future__ import annotations

import datetime
import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.datasets.cell_values import (
    ColumnFormat,
    canonical_texts,
    cell_number,
    cell_text,
    have_part,
    iso_date,
    read_cells,
)

NUMBER, TRUTH = ColumnFormat("number"), ("False", "True")
GERMAN = ColumnFormat("number", (), ",", ".")
DOLLARS = ColumnFormat("number", ("NA",), ".", ",", "$")


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("  Zürich\u00a0", "Zürich"),
        ("a\0", "a"),  # which numpy's arrays of texts would take away
        ("Zu\u0308rich", "Zürich"),  # the accent as a sign of its own
        (3.0, "3"),
        (np.float64(-2), "-2"),
        (2.5, "2.5"),
        (True, "True"),
        (12, "12"),
        ("007", "007"),
        (datetime.date(2024, 3, 5), "2024-03-05"),
        (datetime.datetime(2024, 3, 5), "2024-03-05"),
        (datetime.datetime(2024, 3, 5, 7, 30), "2024-03-05 07:30:00"),
    ],
)
def test_text_of_a_cell(cell: object, text: str) -> None:
    assert cell_text(cell) == text


PIECES = st.text(alphabet="a01. \0\t\n\u00a0ü-", max_size=6)


@given(st.lists(st.one_of(PIECES, st.floats(), st.none()), max_size=8))
def test_texts_of_many_cells_are_those_of_each(cells: list[object]) -> None:
    assert canonical_texts(cells) == [cell_text(cell) for cell in cells]


@given(st.lists(st.text(alphabet="a01.", max_size=4), max_size=6))
def test_parts_of_many_texts(texts: list[str]) -> None:
    assert have_part(texts, ".0") == any(".0" in text for text in texts)
    assert have_part(texts, "\x000") == any(text.startswith("0") for text in texts)
    assert have_part(texts, ".\0", "a1") == any(t.endswith(".") or "a1" in t for t in texts)


@pytest.mark.parametrize(
    ("text", "form", "number"),
    [
        ("$1,200.50", DOLLARS, 1200.5),
        ("1200.5", DOLLARS, 1200.5),
        ("-$5", DOLLARS, -5),
        ("$-5", DOLLARS, -5),
        ("$ 5", DOLLARS, 5),
        ("(100)", NUMBER, -100),
        ("100-", NUMBER, -100),
        ("\u22123.5", NUMBER, -3.5),
        ("1.234,5", GERMAN, 1234.5),
        ("1e3", NUMBER, 1000),
        ("4.2 kg", ColumnFormat("number", unit="kg"), 4.2),
        ("67.0%", ColumnFormat("number", unit="%"), 67),
        ("$(1,234.00)", DOLLARS, -1234),
        ("($ 3.00)", DOLLARS, -3),
        ("$ -", DOLLARS, 0),
        ("1'200.-", ColumnFormat("number", (), ".", "'"), 1200),
        ("CHF 1'200.-", ColumnFormat("number", (), ".", "'", "CHF"), 1200),
        ("12,34,567.5", DOLLARS, 1234567.5),
        ("5 KG", ColumnFormat("number", unit="kg"), 5),
        ("1 day", ColumnFormat("number", unit="days"), 1),
        ("122k", ColumnFormat("number", scaled=True), 122_000),
        ("$1.2M", ColumnFormat("number", unit="$", scaled=True), 1_200_000),
        ("2,5 Mrd. €", ColumnFormat("number", (), ",", "", "€", True), 2.5e9),
        ("<0.01", NUMBER, 0.01),
        ("≥ 90", NUMBER, 90),
        ("90+", NUMBER, 90),
        ("≈5", NUMBER, 5),
    ],
)
def test_numbers_as_they_are_written(text: str, form: ColumnFormat, number: float) -> None:
    assert cell_number(text, form) == number


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("5 lb", ColumnFormat("number", unit="kg")),
        ("€5", DOLLARS),
        ("1,20", DOLLARS),  # no group of three
        ("1.5", ColumnFormat("number", (), ",")),
        ("nan", NUMBER),
        ("inf", NUMBER),
        ("1_000", NUMBER),
        ("0x10", NUMBER),
        ("", NUMBER),
        ("-", NUMBER),
        ("12a", NUMBER),
        ("1e400", NUMBER),
        ("12,345,67", DOLLARS),
        ("12,34,56", DOLLARS),
        ("122k", NUMBER),
        ("5 MW", ColumnFormat("number", unit="mW")),
        ("$", DOLLARS),
        ("<", NUMBER),
    ],
)
def test_what_is_no_number_of_this_form(text: str, form: ColumnFormat) -> None:
    assert math.isnan(cell_number(text, form))


@given(st.floats(-1e12, 1e12), st.sampled_from([(".", ","), (",", "."), (".", "'"), (",", " ")]))
def test_numbers_written_in_the_style_of_a_country(number: float, style: tuple[str, str]) -> None:
    decimal, thousands = style
    written = f"{number:,.3f}".translate({ord(","): thousands, ord("."): decimal})
    form = ColumnFormat("number", (), decimal, thousands)
    assert cell_number(written, form) == float(f"{number:.3f}")


def read(values: list[object], form: ColumnFormat) -> list[object]:
    cells = read_cells(pd.Series(values), form)
    return [None if pd.isna(cell) else cell for cell in cells]


YES = ColumnFormat("yes/no", pair=("no", "yes"))
DAY = pd.Timestamp(2024, 3, 25)
ISO = ("2024-03-25", "2024-03-25T00:00:00", DAY)


@pytest.mark.parametrize(
    ("values", "form", "cells"),
    [
        (
            ["TRUE", "1", "yes", True, 1.0, "ja", " True "],
            ColumnFormat("yes/no", pair=TRUTH),
            "True",
        ),
        (["TRUE", "1.0", "Y", "on", 1], ColumnFormat("yes/no", pair=("0", "1")), "1"),
        (["JA", "Ja", "yes", "1"], ColumnFormat("yes/no", pair=("nein", "ja")), "ja"),
        (["perhaps", "no"], YES, ["perhaps", "no"]),
        ([1.0, 2.0, None], ColumnFormat(), ["1", "2", None]),
        (["1.0", "2 ", ""], ColumnFormat(), ["1", "2", None]),
        # Where versions are told apart, 1.10 is not 1.1 and 1.0 is not 1.
        (["1.0", "1.10"], ColumnFormat(whole=False), ["1.0", "1.10"]),
        (["?", "a"], ColumnFormat(missing=("?",)), [None, "a"]),
        (pd.Categorical(["a", "b"]), ColumnFormat(), ["a", "b"]),
        (["Ulm", "ULM ", "NA"], ColumnFormat(missing=("NA",), folds=True), ["ulm", "ulm", None]),
        ([1.0, math.inf, -math.inf], NUMBER, [1.0, None, None]),
        # Dates come in the form of the training rows; what that cannot hold stays.
        (["25.03.2024", *ISO], ColumnFormat("date", date_format="%d.%m.%Y"), "25.03.2024"),
        (["03/25/2024", *ISO], ColumnFormat("date", date_format="%m/%d/%Y"), "03/25/2024"),
        (["25 Mar 2024", *ISO], ColumnFormat("date", date_format="%d %b %Y"), "25 Mar 2024"),
        (
            ["2300-01-05", "no date", "2021-01-05"],
            ColumnFormat("date", date_format="%d.%m.%y"),
            ["2300-01-05", "no date", "05.01.21"],
        ),
        # Beyond the years of Python's own times.
        (
            ["-12345-01-05", "12000-01-05", "0001-01-01 00:00:00+05:00", "2021-01-05"],
            ColumnFormat("date", date_format="%d.%m.%Y"),
            ["-12345-01-05", "12000-01-05", "0001-01-01 00:00:00+05:00", "05.01.2021"],
        ),
    ],
    ids=itertools.count(),
)
def test_cells_in_the_form_of_their_column(values, form, cells):
    """Of one text, all values are spellings."""
    read = [None if pd.isna(cell) else cell for cell in read_cells(pd.Series(values), form)]
    assert read == ([cells] * len(values) if isinstance(cells, str) else cells)


def test_nothing_is_copied_where_nothing_changes() -> None:
    texts, numbers = pd.Series(["a", "b"], dtype="str"), pd.Series([1.5, 2.0])
    assert read_cells(texts, ColumnFormat()) is texts
    assert read_cells(numbers, NUMBER) is numbers


MONTHS = {
    "English": "January February March April May June "
    "July August September October November December",
    "German": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "French": "janvier février mars avril mai juin "
    "juillet août septembre octobre novembre décembre",
    "Spanish": "enero febrero marzo abril mayo junio "
    "julio agosto septiembre octubre noviembre diciembre",
    "Italian": "gennaio febbraio marzo aprile maggio giugno "
    "luglio agosto settembre ottobre novembre dicembre",
    "Portuguese": "janeiro fevereiro março abril maio junho "
    "julho agosto setembro outubro novembro dezembro",
    "Dutch": "januari februari maart april mei juni "
    "juli augustus september oktober november december",
}


@pytest.mark.parametrize("language", MONTHS)
def test_months_of_several_languages(language: str) -> None:
    form = ColumnFormat("date", date_format="ISO8601", order="dmy")
    for number, name in enumerate(MONTHS[language].split(), 1):
        for written in (name, name.upper(), f"{name[:4]}."):
            assert iso_date(f"3. {written} 2021", form) == f"2021-{number:02d}-03"


@pytest.mark.parametrize(
    ("text", "order", "date"),
    [
        ("Jan-21", "my", "2021-01-01"),
        ("Q4 2021", "qy", "2021-10-01"),
        ("2021 Q2", "yq", "2021-04-01"),
        ("20240229", "ymd", "2024-02-29"),
        ("20230229", "ymd", ""),
        ("Mon, 3 May 2021", "dmy", "2021-05-03"),
        ("3 de mayo de 2021 9:05", "dmy", "2021-05-03 09:05:00"),
        ("1er mars 2021", "dmy", "2021-03-01"),
        ("31.12.68", "dmy", "2068-12-31"),
        ("31.12.69", "dmy", "1969-12-31"),
        ("31.12.213", "dmy", ""),
        ("Q5 2021", "qy", ""),
        ("3 May", "dmy", ""),
        ("2021-05-03", "my", ""),
    ],
)
def test_dates_by_the_order_of_their_parts(text: str, order: str, date: str) -> None:
    assert iso_date(text, ColumnFormat("date", date_format="ISO8601", order=order)) == date
