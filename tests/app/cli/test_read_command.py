"""`tunescope read`, and --reading: what a column was taken for, and reading it otherwise."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

from app.cli import main
from core.datasets.raw_table import READINGS


@pytest.fixture
def orders(tmp_path):
    """A table whose columns could mean something else."""
    random, rows = np.random.default_rng(2), 120
    weight = np.round(random.uniform(1, 9, rows), 1)
    country = np.array(["NA", "ZA", "BW"])[np.arange(rows) % 3]
    table = pd.DataFrame(
        {
            "country": country,
            "branch": np.array(["00421", "57310", "00007"])[random.integers(0, 3, rows)],
            "weight": [f"{value} kg" for value in weight],
            "rating": np.where(np.arange(rows) % 8, random.integers(1, 6, rows).astype(str), ""),
            "y": np.round(weight + 3 * (country == "NA") + random.normal(0, 0.1, rows), 3),
        }
    )
    path = tmp_path / "orders.csv"
    table.to_csv(path, index=False)
    return path


def read_as_json(capsys, *arguments):
    assert main(["read", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_it_says_how_a_file_is_read(orders, capsys):
    assert main(["read", str(orders)]) == 0
    said = capsys.readouterr().out
    lines = said.splitlines()
    assert lines[0] == "orders.csv: commas between columns, a header, UTF-8"
    assert lines[1] == "120 rows; “y” is predicted (regression)"
    assert re.search(r"^weight +number, kg +feature +0 ", said, re.MULTILINE)
    assert re.search(r"^rating +number +feature +15 \(12 %\) +5$", said, re.MULTILINE)
    assert "“NA” is a value of its own (40 rows); otherwise: --reading country=missing" in said
    assert "is a code" in said
    assert "120 cells of “weight” do not come back from their values letter by letter" in lines[-1]
    assert lines[-1].endswith("in “weight” (--reading weight=text keeps the texts).")


def test_json_has_the_same_facts(orders, capsys):
    report = read_as_json(capsys, orders)
    columns = {column["name"]: column for column in report["columns"]}
    assert (report["rows"], report["target"], report["task"]) == (120, "y", "regression")
    assert (columns["weight"]["kind"], columns["weight"]["unit"]) == ("number", "kg")
    assert columns["rating"]["missing"] == 15
    assert columns["country"]["otherwise"] == "--reading country=missing"
    assert "15" not in columns["rating"]["encoding"]
    assert columns["rating"]["encoding"].startswith("12 % missing: the median")
    assert report["rewritten"] == ["weight"]


def test_a_file_that_is_read_as_written_says_so(tmp_path, capsys):
    path = tmp_path / "plain.csv"
    pd.DataFrame({"a": range(1, 31), "y": np.arange(30) % 7}).to_csv(path, index=False)
    assert main(["read", str(path)]) == 0
    assert "Every cell is read as it is written." in capsys.readouterr().out


def test_what_it_proposes_reads_the_column_otherwise(orders, capsys):
    proposed = read_as_json(capsys, orders)
    for before in proposed["columns"]:
        if before["otherwise"]:
            option, choice = before["otherwise"].split(" ")
            after = read_as_json(capsys, orders, option, choice)
            [column] = [c for c in after["columns"] if c["name"] == before["name"]]
            assert column != before
    [country] = [
        column
        for column in read_as_json(capsys, orders, "--reading", "country=missing")["columns"]
        if column["name"] == "country"
    ]
    assert (country["missing"], country["distinct"]) == (40, 2)
    assert country["otherwise"] == "--reading country=values"  # and back


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("contry=missing", "did you mean “country”"),
        ("country=mising", "“mising” is no reading; use missing, values, number, text, comma"),
        ("missing", "is not COLUMN=READING"),
    ],
)
def test_a_wrong_reading_is_one_sentence(orders, capsys, given, sentence):
    for command in ("read", "tune"):
        assert main([command, str(orders), "--reading", given]) == 2
        said = capsys.readouterr().err
        assert sentence in said
        assert len(said.splitlines()) == 1


def test_readings_are_refused_where_nothing_can_be_read_otherwise(capsys):
    assert main(["read", "sample:tags", "--reading", "word=missing"]) == 2
    assert "are read as they are written" in capsys.readouterr().err


def test_every_reading_is_named_in_the_help(capsys):
    with pytest.raises(SystemExit):
        main(["read", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert all(word in said for word in READINGS)


def test_names_of_columns_are_no_orders_to_the_terminal(tmp_path, capsys):
    path = tmp_path / "odd.csv"
    table = pd.DataFrame({"a\x1b[2J": ["NA", "b", "c"] * 10, "y": range(30)})
    table.to_csv(path, index=False)
    assert main(["read", str(path)]) == 0
    said = capsys.readouterr().out
    assert "--reading" in said
    assert "\x1b" not in said


def test_the_run_and_its_report_say_it_too(orders, tmp_path, capsys):
    report = tmp_path / "report.html"
    options = ("--model", "linear", "--strategy", "random", "--trials", "2", "--evaluation", "test")
    asked = ["tune", str(orders), "--reading", "country=missing", *options]
    assert main([*asked, "--run-dir", str(tmp_path / "run"), "--export", str(report)]) == 0
    assert "Read: “country”: “NA” counts as missing (40 rows)." in capsys.readouterr().err
    text = report.read_text(encoding="utf-8")
    assert "“country”: “NA” counts as missing (40 rows)." in text
    assert "What the model was given" in text
    assert "number, kg" in text
    bare = str(tmp_path / "bare.html")
    assert main(["export", str(tmp_path / "run"), bare, "--without-examples"]) == 0
    with open(bare, encoding="utf-8") as file:
        text = file.read()
    assert "counts as missing" not in text
    assert "the median" not in text
