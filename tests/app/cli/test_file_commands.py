"""`tunescope read` and `predict`: what a column is taken for, and what a model says."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

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
    """What `read` prints as JSON, and its columns by their names."""
    assert main(["read", *map(str, arguments), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    return report, {column["name"]: column for column in report["columns"]}


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
    report, columns = read_as_json(capsys, orders)
    assert (report["rows"], report["target"], report["task"]) == (120, "y", "regression")
    assert (columns["weight"]["kind"], columns["weight"]["unit"]) == ("number", "kg")
    assert columns["rating"]["missing"] == 15
    assert columns["country"]["otherwise"] == "--reading country=missing"
    assert "15" not in columns["rating"]["encoding"]
    assert columns["rating"]["encoding"].startswith("12 % missing: the median")
    assert report["rewritten"] == ["weight"]


def test_what_it_proposes_reads_the_column_otherwise(orders, capsys):
    _, columns = read_as_json(capsys, orders)
    for name, before in columns.items():
        if before["otherwise"]:
            assert read_as_json(capsys, orders, *before["otherwise"].split(" "))[1][name] != before
    country = read_as_json(capsys, orders, "--reading", "country=missing")[1]["country"]
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


def test_every_reading_is_named_in_the_help(capsys):
    with pytest.raises(SystemExit):
        main(["read", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert all(word in said for word in READINGS)


def test_names_of_columns_are_no_orders_to_the_terminal_and_plain_cells_are_said_so(
    tmp_path, capsys
):
    path = tmp_path / "odd.csv"
    table = pd.DataFrame({"a\x1b[2J": ["NA", "b", "c"] * 10, "y": range(30)})
    table.to_csv(path, index=False)
    assert main(["read", str(path)]) == 0
    said = capsys.readouterr().out
    assert "--reading" in said
    assert "Every cell is read as it is written." in said
    assert "\x1b" not in said


@pytest.mark.slow
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
    text = Path(bare).read_text(encoding="utf-8")
    assert "counts as missing" not in text
    assert "the median" not in text


def test_what_cannot_be_predicted_is_one_line(tmp_path, capsys):
    (tmp_path / "model.npz").write_bytes(b"PK torn")
    (tmp_path / "new.csv").write_text("sequence\nACGU\n")
    assert main(["predict", str(tmp_path / "model.npz"), str(tmp_path / "new.csv")]) == 2
    assert "no .npz model file, or it is damaged; export the model again" in capsys.readouterr().err


class Terminal(io.StringIO):
    """Somebody who answers."""

    def isatty(self) -> bool:
        return True


def test_a_model_that_can_run_code_asks_first(capsys, monkeypatch, tmp_path, orders):
    model, out = tmp_path / "model.joblib", tmp_path / "out.csv"
    quick = ["--model", "linear", "--strategy", "random", "--trials", "1"]
    assert main(["tune", str(orders), *quick, "--export", str(model)]) == 0
    predict = ["predict", str(model), str(orders)]
    capsys.readouterr()
    assert main(predict) == 2  # nobody is there to be asked
    assert "--trust" in capsys.readouterr().err
    assert main([*predict, "--trust"]) == 0
    said = capsys.readouterr().out
    assert main([*predict, "--trust", "--only", "--out", str(out)]) == 0
    assert "120 predictions: " in capsys.readouterr().err
    table, only = pd.read_csv(io.StringIO(said)), pd.read_csv(out)
    assert [*table][:5] == [*pd.read_csv(orders)]
    pd.testing.assert_frame_equal(only, table[[*only]])
    for answer, status in (("no\n", 2), ("\n", 2), ("", 2), ("yes\n", 0)):
        asked = Terminal()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", Terminal(answer))
            patch.setattr(sys, "stderr", asked)
            assert main(predict) == status
        assert "can run any code that is in it" in asked.getvalue()
    assert capsys.readouterr().out == said
