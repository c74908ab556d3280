"""How numbers, durations, shares, counts and lists are written."""

import math
import re

import pytest

from core import wording
from core.wording import (
    amount_text,
    amount_texts,
    count_text,
    duration_text,
    format_decimals,
    format_integer,
    format_number,
    format_value,
    list_text,
    percent,
    rough_duration_text,
    shortened_text,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.672, "0.672"), (250.0, "250"), (0, "0"), (-1.5, "−1.5"), (math.nan, "–"), (None, "–"),
     (1e-7, "10⁻⁷"), (2.5e9, "2.5×10⁹"), (2024.0, "2024"), (1234567.2, "1,234,567"),
     (-20628.3, "−20,628")],
)  # fmt: skip
def test_a_number_has_three_digits(value, text):
    assert format_number(value) == text


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [(-0.0002, 1, "0.0"), (-0.06, 1, "−0.1"), (0.04, 1, "0.0"), (2.25, 1, "2.2"), (-0.4, 0, "0")],
)
def test_what_rounds_to_nothing_has_no_sign(value, decimals, text):
    assert format_decimals(value, decimals) == text


@pytest.mark.parametrize(
    ("amount", "unit", "text"),
    [(20628.3, "€", "20,600\u00a0€"), (999.6, "", "1,000"), (0.672, "kg", "0.672\u00a0kg"),
     (-81249.0, "", "−81,200"), (0, "%", "0\u00a0%"), (1.66e11, "", "1.66×10¹¹")],
)  # fmt: skip
def test_an_amount_has_its_unit_and_marks_between_thousands(amount, unit, text):
    assert amount_text(amount, unit) == text


@pytest.mark.parametrize(
    ("amounts", "texts"),
    [((0.80004, 0.802), ["0.800", "0.802"]), ((5, 12.3), ["5.00", "12.3"]), ((5, 12), ["5", "12"]),
     ((20628.3, 0.5), ["20,600", "0.500"]), ((0.0, 0.31), ["0.00", "0.310"])],
)  # fmt: skip
def test_amounts_beside_each_other_have_three_digits_each(amounts, texts):
    assert amount_texts(amounts) == texts


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (0.004, "< 0.1 s"), (0.29, "0.3 s"), (3.0, "3 s"), (9.97, "10 s"), (12.4, "12 s"),
     (59, "59 s"), (59.7, "1 min"), (90, "1 min 30 s"), (100, "1 min 40 s"), (120, "2 min"),
     (3599.6, "1 h"), (7500, "2 h 5 min")],
)  # fmt: skip
def test_a_duration_is_said_in_one_way(seconds, text):
    assert duration_text(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (7, "7 s"), (41, "40 s"), (170, "3 min"), (7820, "2 h 10 min")],
)
def test_an_estimate_is_no_finer_than_it_can_be(seconds, text):
    assert rough_duration_text(seconds) == text


def test_a_setting_has_marks_between_thousands_where_it_is_no_year():
    values = [format_value(value) for value in (2024, 20_000, 31_623.4, "rbf", True)]
    assert values == ["2024", "20,000", "31,623", "rbf", "True"]


def test_shares_counts_and_lists():
    shares = [percent(share) for share in (0.254, 0.0333, 0.0004, 0.0)]
    assert shares == ["25\u00a0%", "3.3\u00a0%", "< 0.1\u00a0%", "0\u00a0%"]
    assert [count_text(n, "row") for n in (0, 1, 2310)] == ["0 rows", "1 row", "2,310 rows"]
    assert count_text(2, "box", "boxes") == "2 boxes"
    assert [list_text("abcd"[:n], 2) for n in range(5)] == [
        "", "a", "a and b", "a, b and 1 other", "a, b and 2 others",
    ]  # fmt: skip
    assert list_text("abc") == "a, b and c"


def test_a_window_writes_as_its_locale_does(monkeypatch):
    monkeypatch.setattr(wording._Marks, "current", staticmethod(lambda: (",", ".")))
    assert (format_number(0.5), format_integer(2310), duration_text(0.29)) == (
        "0,5", "2.310", "0,3 s",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "max_letters", "shown"),
    [("a  short\nname", 60, "a short name"), ("abcdefghijkl", 12, "abcdefghijkl"),
     ("the first words and the last", 16, "the first … last")],
)  # fmt: skip
def test_a_long_text_loses_its_middle(text, max_letters, shown):
    assert shortened_text(text, max_letters) == shown


@pytest.mark.parametrize("length", [200, 201, 1000, 10**6])
def test_where_there_is_room_it_is_said_how_many_characters_are_left_out(length):
    shown = shortened_text("x" * length, 200)
    counts = re.findall(r" … \(([\d,]+) characters left out\) … ", shown)
    assert len(shown) <= 200
    assert shown.count("x") + sum(int(n.replace(",", "")) for n in counts) == length
