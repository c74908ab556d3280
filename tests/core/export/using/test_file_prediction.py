"""A model's predictions behind the rows of a file: all of it, from the model to the file."""

import csv
import io
import os
import signal
import subprocess
import sys
import time

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression

from app.cli import main
from core.errors import UnusableError
from core.export.using import file_prediction
from core.export.using.file_prediction import UNLIKE, predict_into

COLUMNS = ["age", "height"]
ROWS = (
    "order;height;note;age\r\n00071;1,70;“Ä”, ok;70\r\n00072;1,65; x ;31\r\n"
    '00073;;"two\r\nlines";abc\r\n'
)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    # A classifier of two columns, with the card that exported models have.
    random = np.random.default_rng(0)
    rows = pd.DataFrame(
        {"age": random.integers(20, 80, 200), "height": random.normal(1.7, 0.1, 200)}
    )
    fitted = LogisticRegression(max_iter=1000).fit(rows, np.where(rows["age"] > 50, "yes", "no"))
    card = {"features": COLUMNS, "columns": [*COLUMNS, "y"], "text": [], "target": "y"}
    fitted.tunescope_ = {**card, "format": "csv", "read_csv": {"sep": ","}, "libsvm": {}}
    path = tmp_path_factory.mktemp("model") / "m.joblib"
    # The card says nothing of missing values, so that the class itself takes none.
    joblib.dump(fitted, path)
    return path, fitted


def written(model, place, rows, out, **options):
    file = place / "rows.csv"
    file.write_bytes(rows.encode("cp1252"))
    return predict_into(model[0], file, place / out, trust=True, **options)


FILLED = ROWS.replace(";;", ";1,80;").replace("abc", "55")


def test_a_table_comes_back_with_its_numbers_and_letters(model, tmp_path):
    said = written(model, tmp_path, FILLED, "out.csv")
    text = (tmp_path / "out.csv").read_bytes().decode("cp1252")
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=";"))
    assert rows[0] == [
        "order", "height", "note", "age", "prediction", "probability of no", "probability of yes",
    ]  # fmt: skip
    assert [row[:4] for row in rows] == list(
        csv.reader(io.StringIO(FILLED, newline=""), delimiter=";")
    )
    shares = model[1].predict_proba(pd.DataFrame({"age": [70, 31, 55], "height": [1.7, 1.65, 1.8]}))
    assert [[float(cell.replace(",", ".")) for cell in row[5:]] for row in rows[1:]] == [
        pytest.approx(row) for row in shares.tolist()
    ]
    assert "." not in "".join(rows[1][5:])
    assert (said.count, said.marked_count) == (3, 0)


def test_only_gives_the_predictions_alone_and_the_command_writes_to_standard_output(
    model, tmp_path, capsysbinary
):
    written(model, tmp_path, FILLED, "out.csv", only=True)
    table = pd.read_csv(tmp_path / "out.csv")
    assert list(table) == ["prediction", "probability of no", "probability of yes"]
    assert table["prediction"].tolist() == ["yes", "no", "yes"]
    written(model, tmp_path, FILLED, "all.csv")
    capsysbinary.readouterr()
    assert main(["predict", str(model[0]), str(tmp_path / "rows.csv"), "--trust"]) == 0
    assert capsysbinary.readouterr().out == (tmp_path / "all.csv").read_bytes()


def test_the_command_sorts_by_doubt(model, tmp_path):
    written(model, tmp_path, FILLED, "plain.csv")
    command = ["predict", str(model[0]), str(tmp_path / "rows.csv"), "--trust"]
    out = ["--out", str(tmp_path / "out.csv")]
    assert main([*command, "--least-sure-first", *out]) == 0
    with pytest.raises(SystemExit):
        main([*command, "--least-sure-first", "--only", *out])
    plain, sorted_table = (
        pd.read_csv(tmp_path / name, sep=";", decimal=",", encoding="cp1252")
        for name in ("plain.csv", "out.csv")
    )
    order = plain.filter(like="probability of").max(axis=1).sort_values(kind="stable").index
    assert order.tolist() != [0, 1, 2]
    pd.testing.assert_frame_equal(sorted_table, plain.loc[order].reset_index(drop=True))


def test_an_ending_is_refused_before_anything_is_computed(model, tmp_path, monkeypatch):
    monkeypatch.setattr(file_prediction, "model_of_file", lambda *_, **__: pytest.fail("opened"))
    with pytest.raises(UnusableError, match=r"out\.docx: no file that ends in \.docx is written"):
        written(model, tmp_path, FILLED, "out.docx")


def test_parquet_becomes_a_workbook_and_that_comes_back_as_such(model, tmp_path):
    pytest.importorskip("pyarrow")
    table = pd.DataFrame({"id": ["007", "8"], "age": [70, 30], "height": [1.5, 1.75]})
    table.to_parquet(tmp_path / "rows.parquet")
    for name, out in (("rows.parquet", "rows.xlsx"), ("rows.xlsx", "out.xlsx")):
        predict_into(model[0], tmp_path / name, tmp_path / out, trust=True)
    calamine = pytest.importorskip("python_calamine")
    rows = calamine.load_workbook(str(tmp_path / "out.xlsx")).get_sheet_by_index(0).to_python()
    assert [row[:4] for row in rows] == [
        ["id", "age", "height", "prediction"], ["007", 70, 1.5, "yes"], ["8", 30, 1.75, "no"],
    ]  # fmt: skip
    assert rows[0][6] == "prediction (2)"
    assert [row[6] for row in rows[1:]] == ["yes", "no"]


def test_a_file_of_ten_parts_comes_back_whole(model, tmp_path, monkeypatch):
    monkeypatch.setattr(file_prediction, "LARGE_BYTES", 10)
    monkeypatch.setattr(file_prediction, "PART_ROWS", 100)
    random = np.random.default_rng(1)
    lines = [f'{i:05},{random.integers(20, 80)},1.7,"a\n""{i}"""' for i in range(950)]
    text = "id,age,height,note\n" + "\n\n".join(lines)
    written(model, tmp_path, text, "out.csv")
    back = (tmp_path / "out.csv").read_text()
    read = pd.read_csv(tmp_path / "out.csv", dtype={"id": str})
    assert read["id"].tolist() == [f"{i:05}" for i in range(950)]
    assert ((read["age"] > 50) == (read["prediction"] == "yes")).mean() > 0.95
    kept = [line.partition(",yes,")[0].partition(",no,")[0] for line in back.split("\n")]
    assert "\n".join(kept) == text.replace("note", kept[0].rpartition("height,")[2])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_killed_command_leaves_no_half_file(model, tmp_path):
    pd.DataFrame({"age": np.arange(100_000) % 80, "height": 1.7}).to_csv(
        tmp_path / "rows.csv", index=False
    )
    out = tmp_path / "place"
    out.mkdir()
    command = [sys.executable, "-m", "app", "predict", str(model[0]), str(tmp_path / "rows.csv")]
    process = subprocess.Popen([*command, "--trust", "--out", str(out / "out.csv")])
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        if any(path.stat().st_size for path in out.iterdir()):
            break
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not (out / "out.csv").exists()


def test_a_row_that_cannot_be_read_says_why(model, tmp_path, monkeypatch):
    monkeypatch.setattr(LogisticRegression, "predict_proba", lambda *_: np.tile([0.5, 0.5], (3, 1)))
    monkeypatch.setattr(LogisticRegression, "predict", lambda *_: np.array(["no"] * 3))
    said = written(model, tmp_path, ROWS, "out.csv")
    table = pd.read_csv(tmp_path / "out.csv", sep=";", encoding="cp1252", keep_default_na=False)
    assert table[UNLIKE].tolist() == ["", "", "age: “abc” is no number, taken as missing"]
    assert said.marked_count == 1


@pytest.mark.skipif(sys.platform != "linux", reason="commands have no processes of their own there")
@pytest.mark.parametrize(
    ("call", "sentence"),
    [((os.abort, ()), "crashed"), ((bytearray, (10**14,)), "not enough memory")],
    ids=["crash", "memory"],
)
def test_a_model_that_ends_its_process_is_a_sentence(tmp_path, call, sentence):
    class Harmful:
        def __reduce__(self):
            return call

    joblib.dump(Harmful(), tmp_path / "model.joblib")
    (tmp_path / "rows.csv").write_text(ROWS)
    command = [sys.executable, "-P", "-m", "app", "predict", "model.joblib", "rows.csv", "--trust"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert sentence in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(("version", "is_told"), [("0.24.2", True), (sklearn.__version__, False)])
def test_another_scikit_learn_is_told_in_one_sentence(model, tmp_path, version, is_told):
    fitted = joblib.load(model[0])
    fitted.tunescope_["versions"] = {"scikit-learn": version}
    joblib.dump(fitted, tmp_path / "m.joblib")
    sentences = written((tmp_path / "m.joblib",), tmp_path, FILLED, "out.csv").sentences
    told = [sentence for sentence in sentences if f"scikit-learn {version}" in sentence]
    assert len(told) == is_told
