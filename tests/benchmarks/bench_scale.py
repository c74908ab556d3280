"""Scale curves: seconds and memory against size, by decades, beside the peer that can still run.

    python tests/benchmarks/bench_scale.py [CURVE …] [--most SECONDS] [--pictures FOLDER]

Every point is measured in a process of its own with one thread: processor seconds of one call, and
how far it raised the peak of memory. A line ends before its next point would take longer than
--most, or the process is ended. With --pictures the figures, a picture of each curve and a page
that shows them are written there.
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import json
import platform
import subprocess
import sys
import time
import warnings
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from scale import molecules, searches, tables
from scale.curve import Curve, Line, Point, slope
from scale.picture import Found, drawn

CURVES = {one.name: one for one in (*tables.CURVES, *searches.CURVES, *molecules.CURVES)}
FOLDER = Path(__file__).parent / "scale" / "pictures"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("curves", nargs="*", metavar="CURVE", help=", ".join(CURVES))
    parser.add_argument("--most", type=float, default=20.0, metavar="SECONDS")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER")
    parser.add_argument("--point", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.point:
        curve, line, size = given.point
        print(json.dumps(asdict(measured(CURVES[curve].lines[int(line)], int(size)))))
        return
    if unknown := set(given.curves) - set(CURVES):
        parser.error(f"there is no curve {', '.join(sorted(unknown))}; use {', '.join(CURVES)}")
    for name in given.curves or CURVES:
        found = {
            line.name: line_of(CURVES[name], k, given.most)
            for k, line in enumerate(CURVES[name].lines)
        }
        if given.pictures:
            keep(given.pictures, CURVES[name], found)
    if given.pictures:
        (given.pictures / "README.md").write_text(page(given.pictures), encoding="utf-8")


def line_of(curve: Curve, number: int, most: float) -> list[Point]:
    """The points of a line, smallest first, until one would take too long."""
    line, found = curve.lines[number], []
    for size in curve.sizes:
        if size > line.largest or (found and _expected(found, size) > most):
            break
        point = in_its_own_process(curve, number, size, most)
        if point is None:
            break
        found.append(point)
        print(
            f"{curve.name:<10}{line.name:<22}{size:>12,}{point.seconds:>12.4f} s"
            f"{point.megabytes:>10.0f} MB",
            flush=True,
        )
    steep = slope(found)
    if steep is not None:
        print(f"{curve.name:<10}{line.name:<22}slope {steep:.2f}, in theory {line.theory}")
    return found


def _expected(found: list[Point], size: int) -> float:
    """Seconds that the next point will take, if the line goes on as it rose last, or faster."""
    if len(found) < 2:
        return found[-1].seconds
    steep = max(0.0, slope(found[-2:]) or 0.0)
    return found[-1].seconds * (size / found[-1].size) ** steep


def in_its_own_process(curve: Curve, number: int, size: int, most: float) -> Point | None:
    """One point; None where it fails or takes far too long, making its data included."""
    command = [sys.executable, __file__, "--point", curve.name, str(number), str(size)]
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=20 * most + 120
        )
    except subprocess.TimeoutExpired:
        print(f"{curve.name:<10}{curve.lines[number].name:<22}{size:>12,} takes too long")
        return None
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["ended by the system"])[-1]
        print(f"{curve.name:<10}{curve.lines[number].name:<22}{size:>12,} not measured: {why}")
        return None
    return Point(**json.loads(done.stdout.splitlines()[-1]))


def measured(line: Line, size: int) -> Point:
    """One point, in this process: short calls are made several times, and the median taken."""
    warnings.simplefilter("ignore")  # the peers' notes on convergence
    line.make(min(size, 100))()  # imports and compiles
    call = line.make(size)
    _forget_peak()
    before = _memory("VmRSS")
    taken = []
    while len(taken) < 5 and (not taken or sum(taken) < 0.5):
        begin = time.process_time()
        call()
        taken.append(time.process_time() - begin)
    peak = _memory("VmHWM")
    return Point(size, sorted(taken)[len(taken) // 2], max(0.0, peak - before) / 1024)


def _memory(what: str) -> float:
    """Kilobytes of this process, as Linux tells them; 0 elsewhere."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0.0
    lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
    return float(lines[what].split()[0])


def _forget_peak() -> None:
    """Let the peak of memory begin anew where the system can."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def keep(folder: Path, curve: Curve, found: Found) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    figures = {name: [asdict(point) for point in line] for name, line in found.items()}
    (folder / f"{curve.name}.json").write_text(json.dumps(figures, indent=1) + "\n")
    (folder / f"{curve.name}.svg").write_text(drawn(curve, found), encoding="utf-8")


def page(folder: Path) -> str:
    """Markdown that shows every curve that was kept, with its figures and its command."""
    parts = [
        "# Scale curves",
        "Processor seconds and memory of one call against its size, one thread, each point in a "
        f"process of its own, measured with Python {platform.python_version()}. The powers are "
        "those of the last two decades. A line that ends early would have taken more than twenty "
        "seconds at its next point.",
    ]
    for curve in CURVES.values():
        path = folder / f"{curve.name}.json"
        if not path.is_file():
            continue
        kept = json.loads(path.read_text())
        found = {name: [Point(**one) for one in line] for name, line in kept.items()}
        parts += [f"## {curve.title}", f"![{curve.title}]({curve.name}.svg)"]
        parts += [f"`python tests/benchmarks/bench_scale.py {curve.name}`", table(curve, found)]
        parts += [curve.remark] if curve.remark else []
    return "\n\n".join(parts) + "\n"


def table(curve: Curve, found: Found) -> str:
    names = [line.name for line in curve.lines]
    lines = [f"| {curve.axis} | {' | '.join(names)} |", "| ---: |" + " ---: |" * len(names)]
    seconds = {name: {p.size: p.seconds for p in found.get(name, ())} for name in names}
    for size in curve.sizes:
        cells = [f"{seconds[n][size]:.3g} s" if size in seconds[n] else "" for n in names]
        if any(cells):
            lines.append(f"| {size:,} | {' | '.join(cells)} |")
    powers = []
    for line in curve.lines:
        steep = slope(found.get(line.name, ()))
        theory = "" if line.theory is None else f" (theory {line.theory:g})"
        powers.append("" if steep is None else f"{steep:.2f}{theory}")
    return "\n".join([*lines, f"| power | {' | '.join(powers)} |"])


if __name__ == "__main__":
    main()
