"""Benchmarks: anyone's files, one sentence on a bad path, the arithmetic of the scale curves."""

from __future__ import annotations

import argparse
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import bench_scale
import numpy as np
import own_files
import pandas as pd
import pytest
from limits.own_files import work_on
from regret_page import Run, ahead, defeats, dimension_table, regrets_after
from scale.curve import Curve, Line, Point, minute_size, slope
from scale.picture import draw_curve

from core.errors import UnusableError

BENCHMARKS = Path(__file__).parent / "benchmarks"
SVG = "{http://www.w3.org/2000/svg}"


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
    work = {entry.name: entry for entry in work_on([f"{table}:kind"])}
    assert {"table.csv: loo", "table.csv: gradient, beside a search"} <= work.keys()
    assert not any("loo" in entry.name for entry in work_on([f"{table}:c"]))
    for name in ("table.csv: reading", "table.csv: mm"):
        assert work[name].now() >= 0.0
        assert work[name].limit() >= 0.0


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


def test_a_path_where_nothing_lies():
    command = [sys.executable, str(BENCHMARKS / "bench_limits.py"), "--files", "nowhere.csv:y"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith("there is no file nowhere.csv")


def line(power, sizes=(10, 100, 1000, 10_000), at_ten=1e-3):
    return [Point(n, at_ten * (n / 10) ** power, 2.0 * n / 10) for n in sizes]


def curve(*lines):
    return Curve("rows", "Learning & reading", "rows", (10, 100, 1000, 10_000), lines)


@pytest.mark.parametrize("power", [0.0, 1.0, 2.5])
def test_the_slope_is_the_power(power):
    assert slope(line(power)) == pytest.approx(power, abs=1e-12)


def test_only_the_last_two_decades_count():
    bent = [Point(1, 5.0, 0.0), Point(10, 5.0, 0.0), *line(2.0, (100, 1000, 10_000))]
    assert slope(bent) == pytest.approx(2.0)
    assert slope(line(1.0)[:1]) is None


def test_a_line_ends_before_a_point_would_take_too_long(monkeypatch, capsys):
    asked = []

    def point(curve, number, size, max_seconds):
        asked.append(size)
        return Point(size, size / 1000, 1.0)

    monkeypatch.setattr(bench_scale, "measure_apart", point)
    one = Line("ours", lambda size: lambda: None, 1.0)
    assert [p.size for p in bench_scale.measure_line(curve(one), 0, max_seconds=2.0)] == [
        10,
        100,
        1000,
    ]
    assert asked == [10, 100, 1000]
    asked.clear()
    bounded = Line("ours", lambda size: lambda: None, 1.0, max_size=100)
    assert len(bench_scale.measure_line(curve(bounded), 0, max_seconds=1e9)) == 2


def test_a_picture_has_every_line_and_point_within_its_frame():
    ours, peer = Line("ours", None, 1.0), Line("peer <b>", None)
    found = {"ours": line(1.0), "peer <b>": line(2.0, (10, 100, 1000))}
    root = ElementTree.fromstring(draw_curve(curve(ours, peer), found))
    words = [text.text or "" for text in root.iter(f"{SVG}text")]
    assert "Learning & reading" in words
    assert "peer <b>" in words
    assert "1.00, in theory 1" in words
    assert "2.00" in words
    dots = [(float(dot.get("cx")), float(dot.get("cy"))) for dot in root.iter(f"{SVG}circle")]
    assert len(dots) == 2 * (4 + 3) + 2 * 2  # both panels, and the two ends in each key
    width, height = float(root.get("width")), float(root.get("height"))
    assert all(0 < x < width and 0 < y < height for x, y in dots)
    # Ten times the size at power 1 rises as far as it goes right, in decades.
    first, second = dots[0], dots[1]
    assert second[0] > first[0]
    assert second[1] < first[1]


def test_the_size_of_a_minute_is_where_the_line_goes():
    assert minute_size(line(2.0)) == pytest.approx(10 * (60 / 1e-3) ** 0.5)
    assert minute_size(line(0.0)) is None


def test_every_curve_has_a_name_and_rising_sizes():
    for one in bench_scale.CURVES.values():
        assert list(one.sizes) == sorted(set(one.sizes))
        assert len({line.name for line in one.lines}) == len(one.lines)


@pytest.mark.parametrize(
    ("name", "size"),
    [("columns", 100), ("history", 3), ("molecules", 30), ("sentences", 3), ("machines", 3)],
)
def test_curves_run(name, size, monkeypatch):
    monkeypatch.setattr("scale.tables.WIDTH", 200)
    for one in bench_scale.CURVES[name].lines[:1]:
        one.make(size)()


def runs_of(sampler, *regrets, seeds=(0,)):
    """Runs of two trials on f1, f2, …, the second trial better by a tenth."""
    return [
        Run(sampler, f"f{number} in 3 dimensions", seed, 1, [regret, 0.9 * regret], 2.5)
        for seed in seeds
        for number, regret in enumerate(regrets, 1)
    ]


def test_samplers_are_ranked_where_they_ran_every_function_and_counted_elsewhere():
    # By hand: gp has 1, 2, 1 and random 2, 1, 2 of the two; SMAC ran one function of three.
    runs = [
        *runs_of("gp", 1.0, 5.0, 2.0, seeds=(0, 1)),
        *runs_of("random", 4.0, 3.0, 6.0),
        *runs_of("smac", 1.0),
    ]
    rows = [line.split(" | ") for line in dimension_table(runs, [1, 2]).splitlines()[2:]]
    assert rows[0] == ["| Tunescope's gp", "1.33", "1.33", "2", "1.8", "", "", "2.5 (2) |"]
    assert rows[1][1:6] == ["1.67", "1.67", "4", "3.6", "2 : 0 : 1"]
    assert rows[2][1:6] == ["–", "–", "–", "–", "0 : 1 : 0"]
    assert ahead(regrets_after(2, runs), "random") == "2 : 0 : 1"
    # f1 to f3 are separable; over all of them gp is first.
    assert list(defeats(runs, [2], 3)) == []
    worse = runs_of("tpe", 0.5, 0.5, 9.0)
    [line, of_kind] = defeats([*runs, *worse], [2], 3)
    assert line == "- 3 dimensions, 2 trials, all functions: gp 2.00, Optuna's TPE 1.67"
    assert "separable" in of_kind
