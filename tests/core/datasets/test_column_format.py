"""What a column of texts is taken for, by all of its cells, and where a person is asked."""

from __future__ import annotations

import pandas as pd
import pytest

from core.datasets.cell_values import ColumnFormat, read_cells
from core.datasets.column_format import GuessedFormat, guess_format, has_code_width


def guess(
    texts: list[str], kind: str = "", reading: str = "", delimiter: str = ","
) -> GuessedFormat:
    return guess_format(pd.Series(texts, dtype="str"), kind, reading, delimiter=delimiter)


@pytest.mark.parametrize(
    ("texts", "decimal", "thousands", "unit"),
    [
        (["$1,200", "$35.50", "$7"], ".", ",", "$"),
        (["12 %", "7 %", "100 %"], ".", "", "%"),
        (["4.2 kg", "0.8kg", "11 kg"], ".", "", "kg"),
        (["1.234,50 €", "7,00 €"], ",", ".", "€"),
        (["0,123", "0,5"], ",", "", ""),  # no group begins with a zero
        (["1'200.5", "17"], ".", "'", ""),
        (["(100)", "250"], ".", "", ""),
        (["\u22125", "3"], ".", "", ""),
        (["1 200", "3 400 000"], ".", " ", ""),
    ],
)
def test_numbers(texts: list[str], decimal: str, thousands: str, unit: str) -> None:
    form = guess(texts).form
    assert form.kind == "number"
    assert (form.decimal, form.unit) == (decimal, unit)
    assert form.thousands == thousands


@pytest.mark.parametrize(
    "texts",
    [
        ["4 kg", "3 lb"],  # two units are two quantities
        ["1st", "2nd", "3rd"],
        ["00421", "57310"],
        ["12 Main St", "7 Oak Ave"],
        ["a", "b"],
        ["1.2.3", "1.10.0"],
    ],
)
def test_no_numbers(texts: list[str]) -> None:
    assert guess(texts).form.kind == "category"


def test_dots_between_thousands_are_told_by_the_whole_column() -> None:
    texts = ["74.146", "999", "12.500"]
    assert guess(texts, delimiter=";").form.thousands == "."
    assert guess(texts, delimiter=";").word == "point"  # it could be otherwise, and is asked
    assert guess(texts).form.thousands == ""
    # 5678 beside 1.234: who writes a sign between thousands writes it always.
    assert guess(["1.234", "5678"], delimiter=";").form.thousands == ""
    assert guess(["1.234", "5678", "1.234.567"], delimiter=";").form.thousands == "."
    assert guess(texts, reading="comma").form.decimal == ","
    assert guess(texts, reading="point", delimiter=";").form.decimal == "."


def test_words_for_nothing() -> None:
    countries = guess(["ZA", "NA", "BW", "NA"])
    assert countries.form == ColumnFormat("category")
    assert countries.sentence == "“NA” is a value of its own (2 rows)"
    assert guess(["ZA", "NA", "BW"], reading="missing").form.missing == ("NA",)
    assert guess(["a", "?", "b", "null"]).form.missing == ("?", "null")
    assert guess(["a", "?"], reading="values").form.missing == ()
    numbers = guess(["1.5 %", "NA", "#DIV/0!", "2 %"]).form
    assert (numbers.kind, numbers.missing) == ("number", ("NA", "#DIV/0!"))


def test_codes() -> None:
    codes = guess(["00421", "57310", "00007"])
    assert codes.sentence == "“00421” is a code: its zeros count"
    assert guess(["00421", "57310"], kind="number").form.kind == "number"
    same_width = pd.Series([10421, 57310, 20017, 99123] * 20, name="branch")
    assert has_code_width(same_width)
    assert not has_code_width(pd.Series(range(10_000, 10_200), name="count"))
    assert not has_code_width(pd.Series([2019, 2020, 2021] * 30, name="year"))
    assert not has_code_width(pd.Series([10_000, 25_000, 40_000] * 30, name="salary"))


def test_numbers_that_name_a_category() -> None:
    assert guess(["1.0", "2.0"], kind="category").form.whole
    assert not guess(["1.0", "1.1", "1.10"], kind="category").form.whole
    form = guess(["1.0", "2.0"], kind="category").form
    assert read_cells(pd.Series(["1.0", "2.0"]), form).tolist() == ["1", "2"]


def test_dates() -> None:
    assert guess(["25.12.2023", "01.02.2024"]).form.date_format == "%d.%m.%Y"
    both = guess(["03/04/2024", "05/06/2024"])
    assert both.form.date_format == "%m/%d/%Y"
    assert (both.sentence, both.word) == ("“03/04/2024” is 4 March 2024", "day first")
    assert guess(["03/04/2024"], reading="day first").form.date_format == "%d/%m/%Y"
    assert guess(["03/14/2024", "05/06/2024"]).sentence == ""  # there is no fourteenth month
    days = [f"{day:02d}.03.2024" for day in range(1, 31)]
    beside = guess([*days, "unknown"])
    assert (beside.form.kind, beside.form.missing) == ("date", ("unknown",))
    assert beside.sentence == "“unknown” is no date and counts as missing"


def test_yes_and_no() -> None:
    assert guess(["TRUE", "FALSE"]).form.pair == ("FALSE", "TRUE")
    assert guess(["ja", "nein"]).form.pair == ("nein", "ja")
    assert guess(["red", "blue"]).form.pair == ()
