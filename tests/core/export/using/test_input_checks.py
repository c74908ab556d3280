"""Rows unlike the training rows: ranges, categories, and distances as brute force has them."""

import numpy as np
import pandas as pd

from core.export.using.input_checks import training_profile, unlike_reasons

TRAIN = pd.DataFrame({"age": [20.0, 30, 40, 50], "town": ["a", "b", "a", None]})


def test_ranges_and_categories_are_those_of_the_training_rows():
    seen = training_profile(TRAIN)
    assert seen.ranges == {"age": (20.0, 50.0)}
    assert list(seen.kinds["town"]) == ["a", "b"]
    new = pd.DataFrame({"age": [20.0, 51, np.nan, 30], "town": ["a", "b", "c", None]})
    said = unlike_reasons(new, seen)
    assert said[0] == ""
    assert said[1].startswith("age is outside 20 to 50")
    assert said[2].startswith("town was never “c”")
    assert "town was" not in said[3]


def brute(one, other, widths):
    parts = []
    for name, a in one.items():
        b = other[name]
        if pd.isna(a) or pd.isna(b):
            parts.append(0.0 if pd.isna(a) and pd.isna(b) else 1.0)
        else:
            parts.append(abs(a - b) / widths[name] if name in widths else float(a != b))
    return sum(parts) / len(parts)


def test_far_is_farther_than_any_training_row_from_its_nearest_other_one():
    random = np.random.default_rng(2)

    def drawn(count, spread):
        table = pd.DataFrame(spread * random.normal(size=(count, 3)), columns=list("xyz"))
        table["kind"] = random.choice(["a", "b"], size=count)
        table.loc[random.random(count) < 0.1, "x"] = np.nan
        return table

    train, new = drawn(60, 1.0), drawn(40, 1.5)
    widths = {name: train[name].max() - train[name].min() for name in "xyz"}
    rows = [row for _, row in train.iterrows()]
    apart = max(
        min(brute(one, other, widths) for at, other in enumerate(rows) if at != place)
        for place, one in enumerate(rows)
    )
    seen = training_profile(train)
    assert np.isclose(seen.max_distance, apart)
    said = unlike_reasons(new, seen)
    far = [min(brute(row, one, widths) for one in rows) > apart for _, row in new.iterrows()]
    assert ["far from" in words for words in said] == far
    assert any(far)
    assert not all(far)
    assert not any("far from" in words for words in unlike_reasons(train, seen))


def test_many_columns_are_named_but_a_few():
    train = pd.DataFrame(np.random.default_rng(0).random((20, 6)), columns=list("abcdef"))
    (said,) = unlike_reasons(train.iloc[:1] + 9, training_profile(train))
    assert said.count("is outside") == 3
    assert "; 3 more; far from every training row" in said


def test_constant_columns_and_few_rows_do_no_harm():
    assert unlike_reasons(
        pd.DataFrame({"a": [1.0]}), training_profile(pd.DataFrame({"a": [1.0]}))
    ) == [""]
    same = pd.DataFrame({"a": [1.0, 1.0], "b": [None, None]})
    assert unlike_reasons(same, training_profile(same)) == ["", ""]
