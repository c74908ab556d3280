"""What a column of texts is taken for, by all of its cells, and where a person is asked."""

from __future__ import annotations

import pandas as pd
import pytest

from core.datasets.cell_values import ColumnFormat, read_cells
from core.datasets.column_format import GuessedFormat, date_forms, guess_format, guess_of_numbers


def guess(
    texts: list[str], kind: str = "", reading: str = "", delimiter: str = ",", name: str = "x"
) -> GuessedFormat:
    values = pd.Series(texts, dtype="str", name=name)
    return guess_format(values, kind, reading, delimiter=delimiter)


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
        (["CHF 1'200.-", "CHF 7.50"], ".", "'", "CHF"),
        (["$(1,234.00)", "$ -", "$5"], ".", ",", "$"),
        (["1,00,000", "12,34,567", "5,000"], ".", ",", ""),
        (["5 Kg", "3 kg", "4 kg"], ".", "", "kg"),
        (["1 day", "2 days", "3 days"], ".", "", "days"),
        (["5 m", "3 m"], ".", "", "m"),
        (["300 K", "280 K"], ".", "", "K"),
        (["≈5", "~4.5", "7"], ".", "", ""),
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
        ["5 mW", "3 MW"],
        ["<=50K", ">50K"],
        ["<18", "18-30", "30+"],
        ["9783161484100", "9780306406157", "4006381333931", "9780131103627", "9780201633610"],
        ["0306406152", "080442957X", "1861972717", "316148410X", "0201633612"],
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
    assert guess(["1.5", "NA", "NA", "2.5"]).sentence == "“NA” counts as missing (2 rows)"
    said = guess(["2021-01", "?", "2021-02"]).sentence
    assert said == "“2021-01” is 1 January 2021; “?” counts as missing (1 row)"


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["122k", "1.2M", "500"], [122e3, 1.2e6, 500]),
        (["$1.5M", "$3M"], [1.5e6, 3e6]),
        (["1,5 Mio. €", "3,2 Mrd. €"], [1.5e6, 3.2e9]),
        (["2m", "3m", "500k"], [2e6, 3e6, 5e5]),
    ],
)
def test_factors(texts: list[str], numbers: list[float]) -> None:
    form = guess(texts).form
    assert form.scaled
    assert read_cells(pd.Series(texts), form).tolist() == numbers


def test_a_stray_unit_is_none_of_the_others() -> None:
    kilograms = [f"{i % 9} kg" for i in range(80)]
    form = guess([*kilograms, *["7 lb", "6 lb", "5 lb"]]).form
    assert (form.kind, form.unit) == ("number", "kg")
    assert read_cells(pd.Series(["7 lb", "7 kg"]), form).isna().tolist() == [True, False]
    assert guess([str(i) for i in range(80)] + ["7 lb"]).form.unit == ""


def test_bounds_are_read_as_their_number() -> None:
    bounds = guess(["<0.01", "0.5", "0.7", "1.2", ">90"])
    assert bounds.sentence == "“<0.01” is a bound and is read as 0.01"
    assert (bounds.form.kind, bounds.word) == ("number", "text")
    assert guess(["<0.01", "0.5", "0.7", "1.2"], reading="text").form.kind == "category"
    assert guess(["0", "1", "2", "3+"]).form.kind == "number"
    assert guess([*map(str, range(40)), "A+"]).sentence == ""


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["12", "13"], "category"),
        (["1.5 kg", "2 kg"], "number"),
        (["122k", "3M"], "number"),
        (["<0.1", "0.3", "0.4", "0.5"], "number"),
        (["2021Q1", "2021Q3"], "date"),
    ],
)
def test_texts_of_a_file_that_tells_texts_from_numbers(texts: list[str], kind: str) -> None:
    assert guess_format(pd.Series(texts, dtype="str"), typed=True).form.kind == kind


def test_levels_that_differ_in_case_alone() -> None:
    towns = ["Berlin", "berlin", "Ulm"]
    asked, folded = guess(towns), guess(towns, reading="any case")
    assert asked.sentence == "“Berlin”, “berlin” differ in case alone"
    assert (asked.form.folds, asked.word) == (False, "any case")
    assert (folded.form.folds, folded.word) == (True, "text")
    assert guess(["Yes", "yes", "No"], reading="any case").form.pair == ("no", "yes")


def test_long_numbers_that_name_things() -> None:
    ids = pd.Series(range(123_456_789, 900_000_000, 9_999_991), name="x")
    assert "is a code" in code_sentence(ids)
    assert "is a code" in code_sentence(ids.astype(float))
    assert guess_of_numbers(ids, reading="number") is None
    seconds = pd.Series(range(1_600_000_000, 1_600_900_000, 9_000), name="x")
    assert guess_of_numbers(seconds) is None
    assert guess_of_numbers(pd.Series([1.5, 2.0])) is None


def code_sentence(values: pd.Series) -> str:
    guessed = guess_of_numbers(values)
    return guessed.sentence if guessed else ""


def test_days_without_separators() -> None:
    days = pd.Series(pd.date_range("2020-01-01", periods=40).strftime("%Y%m%d"))
    for values in (days, days.astype(int), days.astype(float)):
        found = guess_format(values) if values is days else guess_of_numbers(values)
        assert found is not None
        assert (found.form.kind, found.word) == ("date", "number")
        assert read_cells(values, found.form).tolist()[:2] == ["2020-01-01", "2020-01-02"]
    assert guess(["20210103", "20210204"], name="order_date").form.kind == "date"
    assert guess(["20210103", "20210204"], name="price").form.kind == "number"
    assert guess(["20210103", "20211301"], name="order_date").form.kind == "number"
    assert guess(days.tolist(), reading="number").form.kind == "number"


def test_codes() -> None:
    codes = guess(["00421", "57310", "00007"])
    assert codes.sentence == "“00421” is a code: its zeros count"
    assert guess(["00421", "57310"], kind="number").form.kind == "number"
    assert code_sentence(pd.Series([10421, 57310, 20017, 99123] * 20, name="branch"))
    for name, numbers in {
        "count": list(range(10_000, 10_200)),
        "year": [2019, 2020, 2021] * 30,
        "salary": [10_000, 25_000, 40_000] * 30,
    }.items():
        assert not code_sentence(pd.Series(numbers, name=name))


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


@pytest.mark.parametrize(
    ("texts", "name", "dates"),
    [
        (["Jan-21", "Feb-21"], "x", ["2021-01-01", "2021-02-01"]),
        (["Jan 2021", "May 2021"], "x", ["2021-01-01", "2021-05-01"]),
        (["2021-01", "2021-12"], "x", ["2021-01-01", "2021-12-01"]),
        (["01/2021", "12/2021"], "x", ["2021-01-01", "2021-12-01"]),
        (["2021Q1", "2022Q4"], "x", ["2021-01-01", "2022-10-01"]),
        (["Q1 2021", "Q3 2022"], "x", ["2021-01-01", "2022-07-01"]),
        (["3. Mai 2021", "4. März 2020"], "x", ["2021-05-03", "2020-03-04"]),
        (["3 mars 2021", "14 août 2020"], "x", ["2021-03-03", "2020-08-14"]),
        (["May 3rd, 2021", "June 1st, 2020"], "x", ["2021-05-03", "2020-06-01"]),
        (["25.12.55", "01.02.01"], "born", ["1955-12-25", "2001-02-01"]),
        (["25.12.55", "01.02.01"], "Geburtstag", ["1955-12-25", "2001-02-01"]),
    ],
)
def test_other_dates(texts: list[str], name: str, dates: list[str]) -> None:
    form = guess(texts, name=name).form
    assert form.kind == "date"
    assert read_cells(pd.Series(texts, dtype="str"), form).tolist() == dates


@pytest.mark.parametrize(
    "texts",
    [["Model 3 2021"], ["4021-01", "4021-13"], ["3/4", "1/2"], ["2021-W05"], ["Q1", "Q2"], ["May"]],
)
def test_no_dates(texts: list[str]) -> None:
    assert guess(texts).form.kind == "category"


def test_a_year_alone_is_no_day_of_a_column_of_days() -> None:
    days = [f"{month:02d}/{14 + month}/2023" for month in range(1, 13)]
    guess = guess_format(pd.Series(["2020", *days]))
    assert guess.form.missing == ("2020",)
    assert guess.sentence == "“2020” is no date and counts as missing"
    cells = read_cells(pd.Series(["2020", "2023-07-04"]), guess.form)
    assert cells.isna().tolist() == [True, False]
    assert cells[1] == "07/04/2023"


def test_no_form_is_tried_on_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.datasets.column_format.moments", None)
    for words in (["red", "blue"], ["item 1", "item 2"], ["a-1-b", "c-2-d"], ["12 Main St"]):
        assert date_forms(words) == []


def test_yes_and_no() -> None:
    assert guess(["TRUE", "FALSE"]).form.pair == ("FALSE", "TRUE")
    assert guess(["ja", "nein"]).form.pair == ("nein", "ja")
    assert guess(["red", "blue"]).form.pair == ()
