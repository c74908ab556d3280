"""Scale curves: seconds and memory against size, by decades, beside the peer that can still run.

    python tests/benchmarks/bench_scale.py [CURVE …] [--max-seconds SECONDS] [--page PAGE]

Every point is measured in a process of its own with one thread: processor seconds of one call, and
how far it raised the peak of memory. A line ends before its next point would take longer than
--max-seconds, or the process is ended. With --page the page that shows all curves is written, their
figures and pictures into a folder of its name beside it: docs/scale.md.
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

from scale import files, machines, searches, tables
from scale.curve import Curve, Line, Point, minute_size, slope
from scale.picture import draw_curve

GROUPS = (tables, files, searches, machines)
CURVES = {curve.name: curve for group in GROUPS for curve in group.CURVES}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("curves", nargs="*", metavar="CURVE", help=", ".join(CURVES))
    parser.add_argument("--max-seconds", type=float, default=20.0, metavar="SECONDS")
    parser.add_argument("--page", type=Path, metavar="PAGE")
    parser.add_argument("--point", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.point:
        curve, line, size = arguments.point
        print(json.dumps(asdict(measure(CURVES[curve].lines[int(line)], int(size)))), flush=True)
        os._exit(0)  # clusters need not be ended in order
    if unknown := set(arguments.curves) - set(CURVES):
        parser.error(f"there is no curve {', '.join(sorted(unknown))}; use {', '.join(CURVES)}")
    for name in arguments.curves or CURVES:
        curve = CURVES[name]
        lines = {
            line.name: measure_line(curve, index, arguments.max_seconds)
            for index, line in enumerate(curve.lines)
        }
        if arguments.page:
            write_curve(arguments.page.with_suffix(""), curve, lines)
    if arguments.page:
        arguments.page.write_text(page_text(arguments.page), encoding="utf-8")


def measure_line(curve: Curve, index: int, max_seconds: float) -> list[Point]:
    """The points of a line, smallest first, until one would take too long."""
    line, points = curve.lines[index], []
    label = f"{curve.name:<12}{line.name:<24}"
    for size in curve.sizes:
        if size > line.max_size or (points and _expected_seconds(points, size) > max_seconds):
            break
        point = measure_apart(curve, index, size, max_seconds)
        if point is None:
            break
        points.append(point)
        print(f"{label}{size:>12,}{point.seconds:>12.4f} s{point.megabytes:>10.0f} MB", flush=True)
    power = slope(points)
    if power is not None:
        print(f"{label}slope {power:.2f}, in theory {line.theory}")
    return points


def _expected_seconds(points: list[Point], size: int) -> float:
    """Seconds that the next point will take, if the line goes on as it rose last, or faster."""
    if len(points) < 2:
        return points[-1].seconds
    power = max(0.0, slope(points[-2:]) or 0.0)
    return points[-1].seconds * (size / points[-1].size) ** power


def measure_apart(curve: Curve, index: int, size: int, max_seconds: float) -> Point | None:
    """One point in a process of its own; None where it fails or takes far too long."""
    command = [sys.executable, __file__, "--point", curve.name, str(index), str(size)]
    label = f"{curve.name:<12}{curve.lines[index].name:<24}{size:>12,}"
    try:
        process = subprocess.run(
            command,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=20 * max_seconds + 120,  # making its data included
        )
    except subprocess.TimeoutExpired:
        print(f"{label} takes too long")
        return None
    if process.returncode:
        why = (process.stderr.strip().splitlines() or ["ended by the system"])[-1]
        print(f"{label} not measured: {why}")
        return None
    return Point(**json.loads(process.stdout.splitlines()[-1]))


def measure(line: Line, size: int) -> Point:
    """One point, in this process: short calls are made several times, and the median taken."""
    warnings.simplefilter("ignore")  # the peers' notes on convergence
    if line.warms_up:
        line.make(min(size, 100))()  # imports and compiles
    call = line.make(size)
    _forget_peak()
    memory_before = _memory("VmRSS")
    seconds: list[float] = []
    while len(seconds) < 5 and (not seconds or sum(seconds) < 0.5):
        start_time = time.process_time()
        call()
        seconds.append(time.process_time() - start_time)
    peak = _memory("VmHWM")
    return Point(size, sorted(seconds)[len(seconds) // 2], max(0.0, peak - memory_before) / 1024)


def _memory(name: str) -> float:
    """Kilobytes of this process, as Linux tells them; 0 elsewhere."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0.0
    lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
    return float(lines[name].split()[0])


def _forget_peak() -> None:
    """Let the peak of memory begin anew where the system can."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def write_curve(folder: Path, curve: Curve, lines: dict[str, list[Point]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    figures = {name: [asdict(point) for point in points] for name, points in lines.items()}
    (folder / f"{curve.name}.json").write_text(json.dumps(figures, indent=1) + "\n")
    (folder / f"{curve.name}.svg").write_text(draw_curve(curve, lines), encoding="utf-8")


HEAD = f"""# How time and memory grow

Processor seconds and memory of one call against its size, one thread, each point in a process of
its own, measured with Python {platform.python_version()} by

    python tests/benchmarks/bench_scale.py --page docs/scale.md

The power is that of the last two decades of a line; a line that ends early would have taken too
long at its next point (`--max-seconds`). Below each column stands the size at which one call takes
a minute, if the line goes on so.

**When more machines help.** One fit runs on one machine: where a fit takes seconds, its machine is
large enough, and below the size at which a trial takes about a second one machine does a hundred
trials in a minute. Beyond it every further worker shortens the tuning in proportion, until the
program that hands out the trials has no time left: see the last curve."""


def page_text(page: Path) -> str:
    """Markdown that shows every curve that was kept, with its figures and its command."""
    folder = page.with_suffix("")
    paragraphs = [HEAD]
    for curve in CURVES.values():
        path = folder / f"{curve.name}.json"
        if not path.is_file():
            continue
        figures = json.loads(path.read_text())
        lines = {name: [Point(**point) for point in points] for name, points in figures.items()}
        paragraphs.append(f"## {curve.title}")
        paragraphs.append(f"![{curve.title}]({folder.name}/{curve.name}.svg)")
        paragraphs.append(curve_table(curve, lines))
        paragraphs += [curve.remark] if curve.remark else []
    return "\n\n".join(paragraphs) + "\n"


def curve_table(curve: Curve, lines: dict[str, list[Point]]) -> str:
    """Seconds by size and line, with the power and the size of a minute."""
    names = [line.name for line in curve.lines]
    rows = [f"| {curve.axis} | {' | '.join(names)} |", "| ---: |" + " ---: |" * len(names)]
    seconds = {name: {p.size: p.seconds for p in lines.get(name, ())} for name in names}
    for size in curve.sizes:
        cells = [f"{seconds[n][size]:.3g} s" if size in seconds[n] else "" for n in names]
        if any(cells):
            rows.append(f"| {size:,} | {' | '.join(cells)} |")
    powers, minutes = [], []
    for line in curve.lines:
        points = lines.get(line.name, ())
        power, size = slope(points), minute_size(points)
        theory = "" if line.theory is None else f" (theory {line.theory:g})"
        powers.append("" if power is None else f"{power:.2f}{theory}")
        minutes.append("" if size is None else f"{float(f'{size:.1g}'):,.0f}")
    rows.append(f"| power | {' | '.join(powers)} |")
    return "\n".join([*rows, f"| a minute at | {' | '.join(minutes)} |"])


if __name__ == "__main__":
    main()
