"""Benchmarks on anyone's files: what is named, what is read, and one sentence on a bad path."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))

import own_files
from limits.own_files import work_on

from core.errors import UnusableError

ROOT = Path(__file__).parents[1]
ON_FILES = (
    "best_model",
    "importance",
    "lda",
    "limits",
    "penalties",
    "reading",
    "recommended",
    "structured",
)


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((60, 3)), columns=["a", "b", "c"])
    frame.insert(0, "kind", np.where(frame.a + frame.b > 0, "yes", "no"))
    frame.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


def test_path_and_target(tmp_path):
    assert own_files.divided("data/one.csv") == ("data/one.csv", "")
    assert own_files.divided("data/one.csv:kind of it") == ("data/one.csv", "kind of it")
    assert own_files.divided("C:\\data\\one.csv") == ("C:\\data\\one.csv", "")
    assert own_files.divided("sample:tags") == ("sample:tags", "")
    assert own_files.divided("sample:iris:kind") == ("sample:iris", "kind")
    assert own_files.name_of("data/one.csv:kind") == "one.csv"


@pytest.mark.skipif(sys.platform == "win32", reason="no colon in a file's name")
def test_a_file_with_a_colon_in_its_name(tmp_path):
    path = tmp_path / "at 10:30.csv"
    path.write_text("a,b\n1,2\n")
    assert own_files.divided(str(path)) == (str(path), "")
    assert own_files.divided(f"{path}:a") == (str(path), "a")


def test_the_target_is_what_was_named(table):
    X, y, numbers = own_files.arrays(f"{table}:kind")
    assert X.shape == (60, 3)
    assert not numbers
    assert len(set(y)) == 2
    X, y, numbers = own_files.arrays(f"{table}:c")
    assert numbers
    np.testing.assert_allclose(y, pd.read_csv(table).c)


def test_rows_of_a_file_are_measured(table):
    names = [work.name for work in work_on([f"{table}:kind"])]
    assert names[0] == "table.csv: reading"
    assert {"table.csv: loo", "table.csv: gradient, beside a search"} <= set(names)
    assert not any("loo" in work.name for work in work_on([f"{table}:c"]))
    for work in work_on([f"{table}:kind"]):
        if not work.name.endswith("search"):
            assert work.now() >= 0.0
            assert work.limit() >= 0.0


def test_a_file_of_another_task_is_refused(tmp_path):
    words = [f"{i},w{j},{'N' if j % 2 else 'V'}" for i in range(4) for j in range(5)]
    path = tmp_path / "words.csv"
    path.write_text("\n".join(["sequence,word,tag", *words]) + "\n")
    dataset = own_files.dataset_of(str(path), "sequence")
    with pytest.raises(UnusableError, match=r"words\.csv: .*sequence"):
        own_files.refuse_other_tasks(dataset, str(path))


def test_what_cannot_be_used_is_one_sentence_and_status_two(capsys):
    parser = argparse.ArgumentParser(prog="bench")
    with pytest.raises(SystemExit) as ended, own_files.refusing(parser):
        raise UnusableError("it is empty", where="a.csv")
    assert ended.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1] == "bench: error: a.csv: it is empty."


@pytest.mark.parametrize("name", ON_FILES)
def test_a_path_where_nothing_lies(name):
    script = ROOT / "tests" / "benchmarks" / f"bench_{name}.py"
    done = subprocess.run(
        [sys.executable, str(script), "--files", "nowhere.csv:y"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith("there is no file nowhere.csv")
