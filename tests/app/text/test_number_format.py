"""How numbers are written."""

import pytest

from app.text.number_format import format_decimals
from app.text.score_text import score_text


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [(-0.0002, 1, "0.0"), (-0.06, 1, "-0.1"), (0.04, 1, "0.0"), (2.25, 1, "2.2"), (-0.4, 0, "0")],
)
def test_what_rounds_to_nothing_has_no_sign(value, decimals, text):
    assert format_decimals(value, decimals).replace("−", "-") == text


def test_a_share_just_below_zero():
    assert score_text(-0.0002, "r2") == "0.0\u00a0%"
