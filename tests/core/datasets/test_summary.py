"""What is told of a dataset: distributions, and how its file was read."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.datasets.columns import BINS, MAX_ROWS, Distributions, binned_distribution, distribution
from core.datasets.dataset import Dataset
from core.datasets.dataset_summary import Column, ReadColumn, ReadingReport, reading_report
from core.datasets.preparation import output_names, preparation
from core.datasets.raw_table import READINGS, DataOptions
from core.datasets.reading import read_dataset
from core.datasets.samples import SAMPLES
from core.datasets.summary import rewritten_cells, summarize
from core.errors import UnusableError
from core.records import to_plain


def spread_of(values: pd.Series, kind: str, form: str = ""):
    column = Column(str(values.name), "feature", kind, date_format=form)
    return distribution(values, column, len(values))


def test_numbers_are_counted_as_numpy_counts_them():
    values = pd.Series(np.random.default_rng(0).gamma(2, 3, 5000), name="x")
    values[::10] = np.nan
    found = spread_of(values, "number")
    known = values.dropna()
    assert list(found.counts) == np.histogram(known, BINS)[0].tolist()
    assert (found.low, found.high) == (known.min(), known.max())
    assert (found.rows, found.of) == (5000, 5000)


def test_a_few_whole_numbers_have_a_bin_each():
    found = spread_of(pd.Series([3, 1, 1, 5, 3, 3], name="x"), "number")
    assert found.counts == (2, 0, 3, 0, 1)


@pytest.mark.parametrize("values", [[-1.7e308, 0.0, 1.7e308], [np.inf, 1.0, 2.5, -np.inf]])
def test_the_widest_and_infinite_numbers(values):
    found = binned_distribution(np.array(values), "numbers", rows=len(values), of=len(values))
    assert sum(found.counts) == np.isfinite(values).sum()
    assert found.counts[0] == found.counts[-1] == 1


def test_numbers_whose_half_span_is_none():
    found = binned_distribution(np.array([0.0, 5e-324]), "numbers", rows=2, of=2)
    assert (found.counts, found.high) == ((2,), 5e-324)


def test_the_most_frequent_values_and_the_others():
    values = pd.Series([*"aaaabbbccdefghijk", None], name="x")
    found = spread_of(values, "category")
    assert found.labels[:3] == ("a", "b", "c")
    assert found.counts[:3] == (4, 3, 2)
    assert found.other == 3
    assert found.different == 3
    assert spread_of(pd.Series([None, None], name="x", dtype=object), "category") is None


def test_dates_lie_in_their_time():
    values = pd.Series(["2024-01-01", "2024-01-31", "2024-01-02", None], name="x")
    found = spread_of(values, "date", "%Y-%m-%d")
    assert found.kind == "dates"
    assert found.high - found.low == 30 * 86400
    assert (found.counts[0], found.counts[-1], sum(found.counts)) == (2, 1, 3)


def test_of_many_rows_some_stand_for_all():
    table = pd.DataFrame({"x": np.arange(3 * MAX_ROWS) / 7})
    found = Distributions(table, [Column("x", "feature", "number")])["x"]
    assert (found.rows, found.of) == (MAX_ROWS, 3 * MAX_ROWS)
    assert max(found.counts) - min(found.counts) <= 1


def test_a_summary_tells_of_every_column_also_of_those_left_out():
    summary = summarize(read_dataset("sample:clinic"))
    by_name = {column["name"]: column for column in summary["columns"]}
    age = by_name["age"]
    assert sum(age["distribution"]["counts"]) + age["missing"] == 600
    assert sum(by_name["came_back"]["distribution"]["counts"]) == 600
    kinds = {name: column["kind"] for name, column in by_name.items()}
    assert (kinds["visit_date"], kinds["smoker"]) == ("date", "yes/no")  # as of a file


ROWS = 60
STEPS = np.arange(ROWS)


@pytest.fixture
def table_path(write) -> str:
    """Semicolons, a decimal comma, days that could be months, codes."""
    columns = {
        "amount": [f"{step % 9 + 1},{step % 7}25" for step in STEPS],
        "count": STEPS % 6 + 3,
        "day": [f"{step % 12 + 1:02d}/{step % 11 + 1:02d}/2023" for step in STEPS],
        "code": [f"{step % 4:03d}" for step in STEPS],
        "y": [f"{step % 13},5" for step in STEPS],
    }
    return write(pd.DataFrame(columns).to_csv(sep=";", index=False))


def report_of(dataset: Dataset) -> ReadingReport:
    return reading_report(replace(summarize(dataset), rewritten=rewritten_cells(dataset)))


def column(path: str, name: str, reading: str = "") -> ReadColumn:
    choices = DataOptions(target="y", readings={name: reading} if reading else {})
    report = report_of(read_dataset(path, choices))
    return next(each for each in report.columns if each.name == name)


def values(path: str, name: str, reading: str) -> pd.Series:
    dataset = read_dataset(path, DataOptions(target="y", readings={name: reading}))
    assert dataset.table is not None
    return dataset.table[name]


def test_a_sign_that_the_file_decided_can_be_the_other(table_path):
    written = [step % 9 + 1 + (step % 7 * 100 + 25) / 1000 for step in STEPS]
    assert np.allclose(values(table_path, "amount", "comma"), written)
    assert np.allclose(values(table_path, "amount", "point"), np.multiply(written, 1000))
    assert column(table_path, "amount", "point").otherwise == "--reading amount=comma"


def test_numbers_can_be_texts_and_codes_numbers(table_path):
    assert column(table_path, "count").kind == "number"
    assert column(table_path, "count", "text").kind == "category"
    assert column(table_path, "code").kind == "category"
    assert values(table_path, "code", "number").tolist() == (STEPS % 4).tolist()


def test_the_day_or_the_month_comes_first(table_path):
    for reading, other, day in (("day first", "month", 2), ("month first", "day", 1)):
        read = column(table_path, "day", reading)
        assert read.otherwise == f"--reading 'day={other} first'"
        assert f" is {day} " in read.reading or f" is {3 - day} " in read.reading
    assert column(table_path, "day", "day first") != column(table_path, "day", "month first")


def test_cells_that_do_not_come_back_are_counted(write):
    columns = {
        "version": ["1.10" if step % 3 == 0 else f"{step % 7}.5" for step in STEPS],
        "price": [f"{step % 7}.50" for step in STEPS],  # always two decimals
        "size": [f"{step % 5 / 4}" if step else "-0.0" for step in STEPS],  # 0.25, 0.5 and 1.0
        "name": ["Ulm " if step % 4 == 0 else "Bern" for step in STEPS],
        "y": STEPS,
    }
    path = write(pd.DataFrame(columns))
    version = column(path, "version")
    assert (version.rewritten_cells, version.rewritten_example) == (20, "“1.10” is 1.1")
    assert column(path, "version", version.kept.split("=")[1]).rewritten_cells == 0
    assert not any(column(path, name).rewritten for name in ("price", "size"))
    assert column(path, "name").rewritten_cells == 15
    assert column(path, "name").kept == ""


def test_the_sign_of_all_columns_is_changed_at_once(read):
    numbers = [f"{step % 9 + 1}.{step % 7}25" for step in STEPS]
    table = pd.DataFrame({"a": numbers, "b": numbers[::-1], "c": STEPS % 5, "y": STEPS})
    text = table.to_csv(sep=";", index=False)
    report = report_of(read(text, target="y"))
    [change] = report.together
    assert report.columns[0].rewritten_example == f"“{numbers[0]}” is 1025"
    assert change.words == "Read all 2 columns with a decimal point"
    assert change.option == "--reading a=point --reading b=point"
    again = read(text, target="y", readings=change.readings)
    assert again.table["a"].tolist() == again.table["b"].tolist()[::-1] == list(map(float, numbers))
    assert report_of(again).together[0].words.endswith("decimal comma")  # and back


def test_words_are_refused_as_numbers(write):
    with pytest.raises(UnusableError, match="is no number"):
        column(write(pd.DataFrame({"a": ["x", "1", "y"] * 20, "y": STEPS})), "a", "number")


@pytest.mark.parametrize("reading", READINGS)
def test_every_reading_leaves_a_plain_column_readable(table_path, reading):
    assert column(table_path, "count", reading).missing == 0


def test_readings_of_libsvm_and_tokens_are_refused(read):
    text = "".join(f"{step % 2} 1:{step} 2:3\n" for step in STEPS)
    with pytest.raises(UnusableError, match="readings alone"):
        read(text, "rows.libsvm", readings={"feature 1": "text"})
    with pytest.raises(UnusableError, match="read as they are written"):
        read_dataset("sample:molecules", DataOptions(readings={"sequence": "comma"}))


@pytest.mark.parametrize(
    ("kind", "reading", "is_allowed"),
    [
        ("number", "text", False),
        ("category", "comma", False),
        ("number", "day first", False),
        ("category", "text", True),
        ("number", "comma", True),
        ("category", "values", True),
    ],
)
def test_a_kind_and_a_reading_do_not_contradict(table_path, kind, reading, is_allowed):
    choices = DataOptions(target="y", kinds={"amount": kind}, readings={"amount": reading})
    if is_allowed:
        assert read_dataset(table_path, choices).rows == ROWS
        return
    with pytest.raises(UnusableError, match="leave out the one or the other"):
        read_dataset(table_path, choices)


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_samples_are_read_summarized_and_prepared(sample):
    dataset = sample.read()
    source, again = dataset.source, sample.read().source
    assert (dataset.task, dataset.target_name) == (sample.task, sample.target)
    assert (source.format, source.fingerprint) == ("sample", again.fingerprint)
    assert sample.title
    assert sample.sentence.endswith((".", "?"))
    assert not [f for f in dataset.findings if "alone tells" in f.sentence]  # no false alarm
    summary = summarize(dataset)
    assert json.dumps(to_plain(summary), allow_nan=False)
    assert summary["rows"] == dataset.rows
    features = [name for name in dataset.feature_names if name != dataset.sequence_name]
    assert summary["features"] == len(features)
    assert sum(c["count"] for c in summary["classes"]) == (dataset.rows if dataset.classes else 0)
    preview = summary["preview"]
    aside = [c.name for c in dataset.columns if c.role in ("group", "ignore")]
    target = [dataset.target_name] if dataset.target_name else []
    assert preview["columns"] == [*dataset.feature_names, *aside, *target]
    assert len(preview["rows"]) == 50
    assert {len(row) for row in preview["rows"]} == {len(preview["columns"])}
    members = [column for group in summary["prefixes"].values() for column in group]
    assert sorted(members) == sorted(features)
    if dataset.task.is_table:
        fitted = preparation(dataset, scale=True, sparse_ok=False)
        out = fitted.fit(dataset.features, dataset.target).transform(dataset.features)
        assert np.isfinite(out).all()
        assert out.shape == (dataset.rows, len(output_names(fitted)))


def test_nothing_is_never_shown_with_a_sign(read):
    rows = summarize(read("a,y\n" + "-0.0,1.5\n0.25,-0.0\n-1e-9,2.5\n" * 9))["preview"]["rows"]
    assert rows[:3] == [["0", "1.5"], ["0.25", "0"], ["-1e-09", "2.5"]]
    sparse = read("".join(f"{at % 2} 1:-0.0 2:{at}\n" for at in range(30)), "some.libsvm")
    assert summarize(sparse)["preview"]["rows"][0][0] == "0"


def test_the_preview_has_the_values_of_columns_that_are_left_out(read):
    lines = [f"P{i:03},{i % 9},,{'yn'[i % 2]}" for i in range(60)]
    lines[0] = "P000,0,,"  # a row without a target is set aside, here too
    preview = summarize(read("\n".join(["patient,age,note,ill", *lines])))["preview"]
    assert preview["columns"] == ["age", "patient", "note", "ill"]
    assert preview["rows"][0] == ["1", "P001", "", "n"]
    assert preview["rows"][49] == ["5", "P050", "", "y"]


def test_summary_of_a_wide_sparse_file(read, monkeypatch):
    dataset = read("".join(f"{i % 2} {i + 1}:1.5 5000:2\n" for i in range(60)), "wide.libsvm")
    asked, name_of = [], Dataset.sequence_name.fget
    monkeypatch.setattr(
        Dataset, "sequence_name", property(lambda dataset: asked.append(1) or name_of(dataset))
    )
    summary = summarize(dataset)
    assert len(asked) < 10  # its columns are not looked through for each
    assert (summary["features"], summary["more_columns"]) == (5000, 5001 - 300)
    columns = summary["columns"]
    assert len(columns) == 300
    assert columns[0]["distribution"]["counts"] == (59, *[0] * 18, 1)
    assert columns[-1]["role"] == "target"
    assert columns[-1]["distribution"]["counts"] == (30, 30)
    assert summary["preview"]["rows"][3][3] == "1.5"
    assert json.dumps(to_plain(summary), allow_nan=False)


@pytest.mark.parametrize(
    ("header", "target", "rival"),
    [
        ("age,class,sex,survived", "class", "survived"),  # the passenger's class
        ("age,y,sex,fault", "y", "fault"),  # a coordinate
        ("class,age,sex,fault", "class", ""),  # the target first, as some files have it
        ("age,label,sex,fault", "label", ""),
    ],
)
def test_a_target_guessed_by_an_ambiguous_name_has_the_last_column_as_rival(
    tmp_path, header, target, rival
):
    values = {"age": "{0}.5", target: "{1}", "sex": "f{0}", "fault": "{2}", "survived": "{2}"}
    line = ",".join(values[name] for name in header.split(","))
    rows = [line.format(row % 30, row % 3, row % 2) for row in range(120)]
    (tmp_path / "rows.csv").write_text("\n".join([header, *rows]))
    summary = summarize(read_dataset(str(tmp_path / "rows.csv")))
    assert (summary.target, summary.rival) == (target, rival)
