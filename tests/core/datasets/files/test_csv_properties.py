"""Whatever table is written, in whatever usual way, is the table that is read."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.errors import UnusableError

WORDS = ("red", "green, dark", 'say "hi"', "blau;x", "a|b", "tab\there", "two words", "Größe")
NUMBERS = st.one_of(
    st.integers(-(10**6), 10**6).map(float),
    st.floats(-1e9, 1e9, allow_nan=False).map(lambda x: round(x, 4)),
    st.floats(1e-12, 1e-3),
)


@st.composite
def tables(draw: st.DrawFn) -> dict[str, list]:
    rows = draw(st.integers(12, 40))
    table: dict[str, list] = {}
    for i in range(draw(st.integers(1, 3))):
        values: list = draw(st.lists(NUMBERS, min_size=rows, max_size=rows))
        for hole in draw(st.sets(st.integers(1, rows - 1), max_size=3)):
            values[hole] = None
        table[f"number {chr(97 + i)}"] = values
    for i in range(draw(st.integers(0, 2))):
        words = st.sampled_from(WORDS)
        table[f"word {chr(97 + i)}"] = draw(st.lists(words, min_size=rows, max_size=rows))
    table["target"] = [i % 2 + 0.25 for i in range(rows)]
    return table


def written(
    table: dict[str, list], delimiter: str, decimal: str, header: bool, all_quoted: bool
) -> str:
    def cell(value: object) -> str:
        if value is None:
            return "NA"
        if isinstance(value, float):
            text = str(int(value)) if value == int(value) else repr(value)
            return text.replace(".", decimal)
        return str(value)

    out = io.StringIO()
    quoting = csv.QUOTE_ALL if all_quoted else csv.QUOTE_MINIMAL
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator="\n")
    if header:
        writer.writerow(table)
    writer.writerows([cell(v) for v in row] for row in zip(*table.values(), strict=True))
    return out.getvalue()


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    tables(),
    st.sampled_from([(",", "."), (";", "."), (";", ","), ("\t", ","), ("|", "."), (" ", ".")]),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["utf-8", "utf-8-sig", "latin-1", "utf-16"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_round_trip(
    table: dict[str, list],
    signs: tuple[str, str],
    header: bool,
    all_quoted: bool,
    encoding: str,
    newline: str,
) -> None:
    # Between blanks, only quotes keep a tab inside a word; the csv module puts none there.
    text = written(table, *signs, header, all_quoted or signs[0] == " ")
    names = list(table) if header else [f"column {i + 1}" for i in range(len(table))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.txt"
        path.write_bytes(text.replace("\n", newline).encode(encoding))
        dataset = read_dataset(
            str(path), DataOptions(target=names[-1], roles=dict.fromkeys(names[:-1], "feature"))
        )
        arguments = json.loads(json.dumps(dict(dataset.source.read_csv)))
        plain = pd.read_csv(path, **arguments)
    assert list(plain.columns) == names
    pd.testing.assert_frame_equal(plain[names[:-1]], dataset.table, check_exact=True)
    for name, values in zip(names, table.values(), strict=True):
        if isinstance(values[0], str):
            assert plain[name].tolist() == values
        else:
            wanted = np.array([np.nan if v is None else v for v in values])
            np.testing.assert_allclose(plain[name].to_numpy(float), wanted, rtol=1e-14)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.binary(max_size=400), st.text(alphabet="01,;\n\"'a.:| \t-#", max_size=200)))
def test_any_bytes_give_a_dataset_or_one_sentence(content: bytes | str) -> None:
    data = content.encode() if isinstance(content, str) else content
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "anything"
        path.write_bytes(data)
        dataset = sentence = None
        try:
            dataset = read_dataset(str(path))
        except UnusableError as error:
            sentence = error.sentence
    if dataset is None:
        assert sentence.endswith(".")
        assert "\n" not in sentence
    else:
        assert dataset.rows == len(dataset.target) == dataset.features.shape[0]
        assert dataset.features.shape[1] == len(dataset.feature_names) > 0
