"""The scale curves' arithmetic and pictures: slopes, where a line ends, decades, names."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))

import bench_scale
from scale.curve import Curve, Line, Point, slope
from scale.picture import drawn

SVG = "{http://www.w3.org/2000/svg}"


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

    def point(curve, number, size, most):
        asked.append(size)
        return Point(size, size / 1000, 1.0)

    monkeypatch.setattr(bench_scale, "in_its_own_process", point)
    one = Line("ours", lambda size: lambda: None, 1.0)
    assert [p.size for p in bench_scale.line_of(curve(one), 0, most=2.0)] == [10, 100, 1000]
    assert asked == [10, 100, 1000]
    asked.clear()
    bounded = Line("ours", lambda size: lambda: None, 1.0, largest=100)
    assert len(bench_scale.line_of(curve(bounded), 0, most=1e9)) == 2


def test_a_point_counts_the_call_alone():
    built = []

    def make(size):
        built.append(size)
        return lambda: sum(range(size))

    point = bench_scale.measured(Line("sum", make), 200)
    assert built == [100, 200]
    assert point.size == 200
    assert point.seconds >= 0.0


def test_a_picture_has_every_line_and_point_within_its_frame():
    ours, peer = Line("ours", None, 1.0), Line("peer <b>", None)
    found = {"ours": line(1.0), "peer <b>": line(2.0, (10, 100, 1000))}
    root = ElementTree.fromstring(drawn(curve(ours, peer), found))
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


def test_every_curve_has_a_name_and_rising_sizes():
    for one in bench_scale.CURVES.values():
        assert list(one.sizes) == sorted(set(one.sizes))
        assert len({line.name for line in one.lines}) == len(one.lines)


@pytest.mark.parametrize(
    ("name", "size"), [("columns", 100), ("groups", 10), ("history", 3), ("molecules", 30)]
)
def test_curves_run(name, size, monkeypatch):
    monkeypatch.setattr("scale.tables.WIDTH", 200)
    for one in bench_scale.CURVES[name].lines[:1]:
        one.make(size)()
