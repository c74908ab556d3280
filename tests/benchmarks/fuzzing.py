"""Inputs changed at random, read by forked children of one warm process, and what came of them.

An input follows from its format's name and its number alone, so that `replay` makes it again. A
finding is any exception but the house's own, a warning, a signal, and an input that takes more than
SECONDS of the processor, HANG_SECONDS by the clock, or BYTES beside what the program holds.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import importlib
import mmap
import os
import random
import re
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import NoReturn

from core.errors import UnusableError
from core.processes import data_size, limit_memory

ROOT = Path(__file__).resolve().parents[2]
SECONDS, HANG_SECONDS = 2.0, 120.0  # the machine may be busy, and then the clock says little
BYTES = 1 << 30
BATCH = 500  # inputs of one child

Draw = random.Random
Ask = Callable[[], object]


@dataclass(frozen=True)
class Format:
    """One way in.

    Attributes:
        write: writes a changed input to a path; returns what reads it.
        is_strict: a warning is a finding, and so is a lack of memory; else the program reads this
            format in a process of its own, where a lack of memory is a sentence.
        warm: does once what every child would do again.
    """

    name: str
    ending: str
    write: Callable[[Draw, Path], Ask]
    is_strict: bool = True
    warm: Callable[[], object] = lambda: None


@dataclass
class FormatResult:
    """What a format did with its inputs.

    Attributes:
        sites: where in the program a sentence arose.
        findings: {kind: the numbers of the inputs that show it}.
    """

    count: int = 0
    refused: int = 0
    max_seconds: float = 0.0
    max_bytes: int = 0
    sites: set[str] = field(default_factory=set)
    findings: dict[str, list[int]] = field(default_factory=dict)


class TooSlowError(BaseException):
    """Raised by the alarm; no reader may catch it."""


class Tally(ctypes.Structure):
    """What a child has done, in memory that its parent sees when the child is gone."""

    _fields_ = (
        ("number", ctypes.c_int64),
        ("count", ctypes.c_int64),
        ("refused", ctypes.c_int64),
        ("resident", ctypes.c_int64),  # bytes before the first input
        ("max_seconds", ctypes.c_double),
    )


def write_input(fmt: Format, number: int, path: Path) -> Ask:
    """Write the input of a number; what reads it."""
    return fmt.write(Draw(f"{fmt.name} {number}"), path)


def memory_folder() -> str | None:
    """A folder in memory, where there is one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def attack(fmt: Format, numbers: range, keep: Path | None = None) -> FormatResult:
    """Read the inputs of these numbers; each kind of finding leaves its first input in `keep`."""
    result = FormatResult()
    fmt.warm()
    gc.collect()
    gc.freeze()  # so that children look through their own objects alone
    try:
        for first in range(numbers.start, numbers.stop, BATCH):
            batch = range(first, min(first + BATCH, numbers.stop))
            while batch:
                batch = _run_child(fmt, batch, result)
    finally:
        gc.unfreeze()
    for kind in list(result.findings):
        _confirm(fmt, kind, result, keep)
    return result


def _run_child(fmt: Format, batch: range, result: FormatResult) -> range:
    """One child reads a batch; the rest of it, where an input ended the child."""
    shared = mmap.mmap(-1, ctypes.sizeof(Tally))
    tally = Tally.from_buffer(shared)
    tally.number = batch.start
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        os.close(reading)
        _read_batch(fmt, batch, tally, writing, result.sites)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            kind, _, rest = line.rstrip("\n").partition("\t")
            if kind == "site":
                result.sites.add(rest)
            elif kind == "module":
                # Imported here, it is imported once and not by every child.
                with contextlib.suppress(Exception):
                    importlib.import_module(rest)
            else:
                result.findings.setdefault(rest, []).append(int(kind))
    _, status, usage = os.wait4(child, 0)
    result.count += tally.count
    result.refused += tally.refused
    result.max_seconds = max(result.max_seconds, tally.max_seconds)
    result.max_bytes = max(result.max_bytes, usage.ru_maxrss * 1024 - tally.resident)
    if not status:
        return range(0)
    code = os.waitstatus_to_exitcode(status)
    word = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
    result.count += 1
    result.findings.setdefault(word, []).append(tally.number)
    return range(tally.number + 1, batch.stop)


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE


def _read_batch(
    fmt: Format, batch: range, tally: Tally, pipe: int, known_sites: set[str]
) -> NoReturn:
    """In the child: read inputs; new sites and findings go into the pipe, a line each."""
    status = 1
    try:
        tally.resident = _resident_bytes()
        limit_memory(BYTES + data_size())
        signal.signal(signal.SIGPROF, _stop_reading)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends a child that hangs, also in C
        sites, modules = set(known_sites), set(sys.modules)
        with tempfile.TemporaryDirectory(dir=memory_folder()) as folder:
            path = Path(folder) / f"input{fmt.ending}"
            for number in batch:
                tally.number = number
                ask = write_input(fmt, number, path)
                kind, site, seconds = _timed(fmt, ask)
                tally.max_seconds = max(tally.max_seconds, seconds)
                tally.count += 1
                tally.refused += bool(site)
                if site and site not in sites:
                    sites.add(site)
                    os.write(pipe, f"site\t{site}\n".encode())
                if kind:
                    os.write(pipe, f"{number}\t{kind}\n".encode(errors="replace"))
        for name in sorted(set(sys.modules) - modules):
            os.write(pipe, f"module\t{name}\n".encode())
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _timed(fmt: Format, ask: Ask) -> tuple[str, str, float]:
    """The kind of finding, "" for none; where a sentence arose, "" for none; seconds."""
    kind = site = ""
    began = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.setitimer(signal.ITIMER_REAL, HANG_SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error" if fmt.is_strict else "ignore")
            ask()
    except UnusableError as error:
        site = site_of(error)
        kind = "" if str(error).strip() else f"an empty sentence at {site}"
    except TooSlowError as error:
        kind = f"more than {SECONDS:.0f} s at {site_of(error)}"
    except Exception as error:
        if isinstance(error, MemoryError) and not fmt.is_strict:
            site = "memory"
        else:
            text = re.sub(r"\d+", "#", ascii(str(error)[:80]))
            kind = f"{type(error).__name__} at {site_of(error)}: {text}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    return kind, site, time.process_time() - began


def _stop_reading(signal_number: int, frame: FrameType | None) -> None:
    raise TooSlowError


def site_of(error: BaseException) -> str:
    """The last line of the program in a traceback."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.startswith(str(ROOT))
        and "/.venv/" not in frame.filename
        and frame.name != _stop_reading.__name__  # it interrupts the line that is slow
    ]
    if not frames:
        return "?"
    return f"{Path(frames[-1].filename).relative_to(ROOT)}:{frames[-1].lineno}"


def _confirm(fmt: Format, kind: str, result: FormatResult, keep: Path | None) -> None:
    """Read the first input of a finding by itself: what needs its forerunners is said to."""
    alone = FormatResult()
    number = result.findings[kind][0]
    _run_child(fmt, range(number, number + 1), alone)
    if kind not in alone.findings:
        result.findings[f"{kind} (only after others)"] = result.findings.pop(kind)
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        write_input(fmt, number, keep / f"{fmt.name}-{number}{fmt.ending}")


def finding_lines(fmt: Format, result: FormatResult) -> list[str]:
    """A line a finding, with what shows it again."""
    return [
        f"{fmt.name}: {len(numbers)} × {kind}; --replay {fmt.name}:{numbers[0]}"
        for kind, numbers in sorted(result.findings.items())
    ]


def replay(fmt: Format, number: int, folder: Path) -> None:
    """Write one input into a folder and read it, with the traceback that it may cause."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{fmt.name}-{number}{fmt.ending}"
    ask = write_input(fmt, number, path)
    print(f"{path}, {path.stat().st_size:,} bytes", flush=True)
    signal.signal(signal.SIGPROF, _stop_reading)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    with warnings.catch_warnings():
        warnings.simplefilter("error" if fmt.is_strict else "ignore")
        try:
            ask()
        except UnusableError as error:
            print(error)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)


def print_table(formats: Sequence[Format], count: int, first: int, keep: Path | None) -> int:
    """Attack formats one after another; the number of kinds of findings."""
    print(f"{'format':12} {'inputs':>8} {'refused':>8} {'sites':>6} {'slowest':>8} {'memory':>8}")
    kinds = Counter[str]()
    for fmt in formats:
        result = attack(fmt, range(first, first + count), keep)
        print(
            f"{fmt.name:12} {result.count:8} {result.refused:8} {len(result.sites):6}"
            f" {result.max_seconds:6.2f} s {result.max_bytes / 1e6:5.0f} MB",
            flush=True,
        )
        for line in finding_lines(fmt, result):
            print(f"  {line}", flush=True)
        kinds[fmt.name] += len(result.findings)
    return kinds.total()


def run_command(formats: Sequence[Format], usage: str) -> int:
    """Attack all formats, or those that the command line names; the exit status."""
    parser = argparse.ArgumentParser(description=usage.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000, help="inputs of each format")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--replay", metavar="NAME:NUMBER", help="make one input again and read it")
    arguments = parser.parse_args()
    if arguments.replay:
        name, _, number = arguments.replay.partition(":")
        replay(next(fmt for fmt in formats if fmt.name == name), int(number), arguments.keep)
        return 0
    named = [fmt for fmt in formats if not arguments.only or fmt.name in arguments.only]
    return int(print_table(named, arguments.count, arguments.first, arguments.keep) > 0)
