"""Regularization groups: by every spec, and from JSON files with faults that have a place."""

from __future__ import annotations

import pytest

from core.datasets.groups import groups_from_file, penalty_groups, prefix_groups
from core.errors import UnusableError

SOURCES = ["blood_iron", "blood_salt", "ward", "ward", "ward", "sleep_hours", "age"]
NAMES = ["blood_iron", "blood_salt", "ward=a", "ward=b", "ward=rare", "sleep_hours", "age"]


def grouped(spec: object) -> dict[str, list[str]]:
    """{group: outputs} of a spec."""
    names, numbers = penalty_groups(spec, NAMES, SOURCES)
    assert sorted(set(numbers.tolist())) == list(range(len(names)))
    return {
        group: [n for n, k in zip(NAMES, numbers, strict=True) if k == i]
        for i, group in enumerate(names)
    }


def test_the_four_words():
    assert grouped("single") == {"all": NAMES}
    assert grouped("each") == {name: [name] for name in NAMES}
    assert grouped("column") == {
        "blood_iron": ["blood_iron"],
        "blood_salt": ["blood_salt"],
        "ward": ["ward=a", "ward=b", "ward=rare"],
        "sleep_hours": ["sleep_hours"],
        "age": ["age"],
    }
    assert grouped("prefix") == {"blood": NAMES[:2], "other": NAMES[2:]}


@pytest.mark.parametrize("sign", ["_", ".", "-", " ", ":", "/"])
def test_prefixes_end_at_any_sign(sign):
    names = [f"mean{sign}radius", f"mean{sign}area", f"worst{sign}a", f"worst{sign}b_c", "age"]
    assert prefix_groups(names) == {"mean": names[:2], "worst": names[2:4], "other": ["age"]}
    numbered = ["feature 1", "feature 2"]
    assert prefix_groups(numbered) == {"other": numbered}


def test_a_mapping_of_columns_and_outputs():
    spec = {"rest": ["sleep_hours", "ward"], "blood": ["blood_iron"], "b": ["ward=b"], "none": []}
    assert grouped(spec) == {
        "blood": ["blood_iron"],
        "other": ["blood_salt", "age"],
        "rest": ["ward=a", "ward=rare", "sleep_hours"],
        "b": ["ward=b"],
    }


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("prefixes", "did you mean prefix"),
        ("nonsense", "single, each, column, prefix or a JSON file"),
        ({"g": ["blood_irn"]}, "did you mean “blood_iron”"),
        ({"g": ["age"], "h": ["age"]}, "in two groups, “g” and “h”"),
    ],
)
def test_wrong_specs(spec, words):
    with pytest.raises(UnusableError, match=words):
        penalty_groups(spec, NAMES, SOURCES)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"blood": [\n  "iron" "salt"]}', r"groups\.json, line 2, column 10: this is no JSON"),
        (b"", r"line 1, column 1"),
        (b"{}", "no groups"),
        (b"[" * 100_000, "no groups"),
        (b'["blood"]', "no groups"),
        (b'{"blood": "iron"}', r"group “blood”: the group is no list"),
        (b'{"blood": [1]}', "no list of column names"),
        (b'{"a": ["x"], "a": ["y"]}', "“a” is there twice"),
        (b"\xff\xfe\xfa" * 9, "no text"),
        (None, "no such file"),
    ],
)
def test_wrong_files(tmp_path, content, words):
    path = tmp_path / "groups.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UnusableError, match=words) as caught:
        groups_from_file(str(path))
    assert caught.value.cure


def test_a_file(write):
    path = write('{"blood": ["blood_iron", "blood_salt"]}', "groups.json", "utf-8-sig")
    assert groups_from_file(path) == {"blood": ["blood_iron", "blood_salt"]}
