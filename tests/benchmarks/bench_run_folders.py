"""Programs that want the same run folder at the same moment: how often two of them get it.

python tests/benchmarks/bench_run_folders.py [--new 60] [--same 200] [--programs 4]

New folders: all programs make one in the same second; each must be its maker's alone. Same folder:
all want to write one run, leave it and come back; never may two be inside. Exit status 1 where one
of these happened.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from pathlib import Path
from typing import Any

from core.errors import UnusableError
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs.run_folder import RunFolder

PLAN = Plan(DataPlan("sample:iris"), "svm", "random")
VISITS = 5  # of one program to the same folder in a round


def program(gate: Any, moment: Any, inside: Any, told: Any, work: Any) -> None:
    """One program: what `work` says, again and again, at the moment that all wait for."""
    while (given := work.get()) is not None:
        kind, place = given
        gate.wait()
        while time.perf_counter() < moment.value:
            pass
        told.put(made(place) if kind == "new" else most_inside(place, inside))


def made(root: Path) -> str:
    return RunFolder.create(PLAN, root=root).name


def most_inside(path: Path, inside: Any) -> int:
    """How many programs were inside at most while this one was."""
    most = 0
    for _ in range(VISITS):
        try:
            with RunFolder(path).hold_lock():
                with inside.get_lock():
                    inside.value += 1
                time.sleep(0.0005)
                most = max(most, inside.value)
                with inside.get_lock():
                    inside.value -= 1
        except UnusableError:
            pass
    return most


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--new", type=int, default=60, help="rounds of new folders")
    parser.add_argument("--same", type=int, default=200, help="rounds of one folder")
    parser.add_argument("--programs", type=int, default=4)
    given = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    gate = context.Barrier(given.programs + 1)
    moment, inside = context.Value("d", 0.0), context.Value("i", 0)
    told, works = context.Queue(), [context.Queue() for _ in range(given.programs)]
    programs = [
        context.Process(target=program, args=(gate, moment, inside, told, work)) for work in works
    ]
    for one in programs:
        one.start()

    def round_of(kind: str, place: Path) -> list[Any]:
        for work in works:
            work.put((kind, place))
        moment.value = time.perf_counter() + 3600
        gate.wait()
        moment.value = time.perf_counter() + 0.003
        return [told.get(timeout=60) for _ in works]

    with tempfile.TemporaryDirectory() as folder:
        shared = 0
        for number in range(given.new):
            names = round_of("new", Path(folder) / str(number))
            shared += len(set(names)) < len(names)
        print(f"new folders: {shared} of {given.new} rounds had a folder of two programs")
        path = RunFolder.create(PLAN, root=Path(folder)).path
        crowded, empty = 0, 0
        for _ in range(given.same):
            found = round_of("same", path)
            crowded, empty = crowded + (max(found) > 1), empty + (max(found) == 0)
        print(f"one folder: {crowded} of {given.same} rounds had two inside, {empty} had nobody")
    for work in works:
        work.put(None)
    for one in programs:
        one.join()
    return int(bool(shared or crowded or empty))


if __name__ == "__main__":
    raise SystemExit(main())
