"""What was measured of the papers: kept whole, and compared right."""

from __future__ import annotations

from core.reproduction.outcomes import (
    MeasuredResult,
    load_result,
    result_tables,
    save_result,
    sentences,
)

ROWS = (
    {"dataset": "a", "grid (paper)": 80.0, "grid": 82.5, "mm (paper)": None, "mm": 81.0, "mm s": 1},
    {"in words": "mm is quick."},
)


def test_what_is_kept_is_read_again(tmp_path):
    found = MeasuredResult("foo-table2", ROWS, 1.5, {"numpy": "2"})
    save_result(found, tmp_path)
    assert load_result("foo-table2", tmp_path) == found
    assert load_result("foo-table1", tmp_path) is None


def test_ours_stand_before_theirs_with_the_difference_and_times_are_left_out():
    (part,) = result_tables(MeasuredResult("foo-table2", ROWS, None, {}))
    assert part.headings == ("dataset", "grid", "mm")
    assert part.rows == (("a", "82.5 / 80 (+2.5)", "81"),)
    assert part.compared
    assert list(sentences(MeasuredResult("foo-table2", ROWS, None, {}))) == ["mm is quick."]


def test_penalties_are_compared_by_their_quotient():
    rows = ({"": "loops", "fold A (paper)": 2.0, "fold A": "3 (limit)"},)
    (part,) = result_tables(MeasuredResult("foo-table3b", rows, None, {}))
    assert part.rows == (("loops", "3 (limit) / 2 (× 1.5)"),)


def test_words_have_no_difference():
    rows = ({"method": "m", "found % (paper)": "stays", "found %": 42.0},)
    (part,) = result_tables(MeasuredResult("brofos-sinc", rows, None, {}))
    assert part.rows == (("m", "42 / stays"),)


def test_ours_may_stand_on_either_side_of_theirs():
    row = {"M": 10, "grid": 41.2, "lead": 4.6, "refit lead": 3.6, "lead (paper)": 6.7}
    (part,) = result_tables(
        MeasuredResult("do-figure2", (row, {**row, "lead (paper)": None}), None, {})
    )
    assert part.headings == ("M", "grid", "lead")
    assert part.rows == (("10", "41.2", "4.6 / 6.7 (-2.1)"), ("10", "41.2", "4.6"))
