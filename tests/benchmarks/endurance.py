"""All attacks on files, models, runs, folders and the window, each with its share of the time.

    python tests/benchmarks/endurance.py [--hours 8] [--seed 0] [--only NAME …] [--keep DIR]

One attack runs at a time, by batches, each in a process forked of this one, in which everything is
imported. Prints findings when they arise, and in the end a table, which the folder of --keep has at
any moment. Exit status 1 where there are findings.
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import contextlib
import math
import pickle
import resource
import select
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE)]

import fuzz_models
import fuzz_readers
from fuzzing import Format, attack, finding_lines

HANG_SECONDS = 1800  # of a batch, beside what it should take
STEP = 10**9  # numbers of inputs that one --seed has


@dataclass
class AttackRecord:
    """What some inputs of one attack came to; times and bytes of one input or of its processes."""

    name: str
    count: int = 0
    findings: list[str] = field(default_factory=list)
    max_seconds: float = 0.0
    max_bytes: int = 0
    refused: int = 0
    sites: set[str] = field(default_factory=set)  # where sentences arose

    def add(self, record: AttackRecord) -> None:
        """Take another batch in."""
        self.count += record.count
        self.findings += record.findings
        self.max_seconds = max(self.max_seconds, record.max_seconds)
        self.max_bytes = max(self.max_bytes, record.max_bytes)
        self.refused += record.refused
        self.sites |= record.sites


@dataclass(frozen=True)
class Batch:
    """How many inputs, the number of the first, the seed of all, and where findings are kept."""

    size: int
    first: int
    seed: int
    keep: Path

    @property
    def batch_seed(self) -> int:
        """A seed of its own."""
        return self.seed * STEP + self.first


@dataclass(frozen=True)
class Attack:
    """One of the attacks.

    Attributes:
        share: of the time.
        size: of the first batch.
        batch_seconds: how long a batch should take.
    """

    name: str
    share: float
    size: int
    run: Callable[[Batch], Iterator[AttackRecord]]
    batch_seconds: float = 60.0


def attack_formats(formats: Sequence[Format], batch: Batch) -> Iterator[AttackRecord]:
    """Changed files of each format."""
    numbers = range(batch.batch_seed, batch.batch_seed + batch.size)
    for fmt in formats:
        result = attack(fmt, numbers, batch.keep)
        yield AttackRecord(
            fmt.name,
            result.count,
            finding_lines(fmt, result),
            result.max_seconds,
            result.max_bytes,
            result.refused,
            result.sites,
        )


def attack_runs(name: str, module: str, batch: Batch) -> Iterator[AttackRecord]:
    """Runs that are killed and go on, killed exports, or runs that many programs share."""
    began = time.monotonic()
    count = import_module(module).run(batch.size, batch.batch_seed)
    findings = [f"{name}: {count} of {module}.run({batch.size}, {batch.batch_seed})"]
    yield _record_of_all(name, batch, findings if count else [], began)


def attack_memory(batch: Batch) -> Iterator[AttackRecord]:
    """Tables made to explode a model, tuned with bounded memory."""
    import exploding_tables

    for record in exploding_tables.run(batch.size, batch.batch_seed):
        findings = [f"tables: {record.name}: {record.problem}"] if record.problem else []
        yield AttackRecord("tables", 1, findings, record.seconds, record.memory)


def attack_folders(batch: Batch) -> Iterator[AttackRecord]:
    """Commands on hostile run folders, settings and histories."""
    import hostile_folders

    began = time.monotonic()
    findings = [f"folders: {line}" for line in hostile_folders.run(batch.size, batch.batch_seed)]
    yield _record_of_all("folders", batch, findings, began)


def attack_cluster(batch: Batch) -> Iterator[AttackRecord]:
    """Runs on a cluster whose workers and scheduler die, hang, lie or are late."""
    import hostile_clusters

    began = time.monotonic()
    findings = [f"cluster: {line}" for line in hostile_clusters.run(batch.size, batch.batch_seed)]
    yield _record_of_all("cluster", batch, findings, began)


def attack_window(batch: Batch) -> Iterator[AttackRecord]:
    """A window that stays open; in a program of its own, for Qt bears no forks."""
    began = time.monotonic()
    script = HERE / "window_endurance.py"
    ended = subprocess.run(
        [sys.executable, str(script), "--cycles", str(batch.size)],
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    lines = (ended.stdout + ended.stderr).strip().splitlines()
    findings = [f"window: {line}" for line in lines[-3:]] if ended.returncode else []
    yield _record_of_all("window", batch, findings, began)


def _record_of_all(name: str, batch: Batch, findings: list[str], began: float) -> AttackRecord:
    """Of a batch that says no times: the mean time, and the largest of its processes."""
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return AttackRecord(name, batch.size, findings, (time.monotonic() - began) / batch.size, most)


ATTACKS = (
    Attack("data", 0.4, 40, partial(attack_formats, fuzz_readers.FORMATS)),
    Attack("models", 0.12, 100, partial(attack_formats, fuzz_models.FORMATS)),
    Attack("kills", 0.22, 2, partial(attack_runs, "kills", "bench_kills")),
    Attack("exports", 0.02, 8, partial(attack_runs, "exports", "killed_exports")),
    Attack("programs", 0.02, 8, partial(attack_runs, "programs", "shared_programs")),
    Attack("work", 0.02, 1, partial(attack_runs, "work", "shared_work"), batch_seconds=240.0),
    Attack("tables", 0.05, 1, attack_memory),
    Attack("folders", 0.1, 10, attack_folders),
    Attack("cluster", 0.02, 1, attack_cluster),
    Attack("window", 0.03, 2, attack_window, batch_seconds=1500.0),
)


def run_batch(attack: Attack, batch: Batch) -> Iterator[AttackRecord]:
    """The records of a batch in a process of its own; its end before its time is a finding."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        os.close(reading)
        _serve(attack, batch, writing)
    os.close(writing)
    until = time.monotonic() + HANG_SECONDS + 10 * attack.batch_seconds
    content, is_open = b"", True
    while is_open:
        ready, _, _ = select.select([reading], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
        block = os.read(reading, 1 << 16) if ready else b""
        content += block
        is_open = bool(block)
    os.close(reading)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    records: list[AttackRecord] = pickle.loads(content) if content else []
    if status:
        finding = f"{attack.name}: the batch {batch} ended with {status}"
        records.append(AttackRecord(attack.name, findings=[finding]))
    yield from records


def _serve(attack: Attack, batch: Batch, pipe: int) -> NoReturn:
    status, records = 1, []
    try:
        os.setpgid(0, 0)
        for record in attack.run(batch):
            records.append(record)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        with os.fdopen(pipe, "wb") as stream:
            pickle.dump(records, stream)
        os._exit(status)


class Table:
    """The sums of all batches, by name."""

    def __init__(self, keep: Path) -> None:
        self.records: dict[str, AttackRecord] = {}
        self.keep = keep
        self.began = time.monotonic()

    def add(self, record: AttackRecord) -> None:
        """Take a record in, and print its findings."""
        self.records.setdefault(record.name, AttackRecord(record.name)).add(record)
        for line in record.findings:
            print(line, flush=True)

    def text(self) -> str:
        """A line an attack."""
        head = f"{'attack':12} {'number':>9} {'found':>6} {'slowest':>9} {'memory':>8}"
        lines = [f"{head} {'refused':>8} {'sites':>6}"]
        lines += [
            f"{record.name:12} {record.count:9,} {len(record.findings):6}"
            f" {record.max_seconds:7.2f} s {record.max_bytes / 1e6:5.0f} MB"
            f" {record.refused / max(1, record.count):8.0%} {len(record.sites):6}"
            for record in self.records.values()
        ]
        hours = (time.monotonic() - self.began) / 3600
        return "\n".join([*lines, f"after {hours:.2f} hours"])

    def write(self) -> None:
        """Keep what there is, should the program be ended."""
        self.keep.mkdir(parents=True, exist_ok=True)
        findings = [line for record in self.records.values() for line in record.findings]
        content = "\n".join([self.text(), "", *findings, ""])
        (self.keep / "table.txt").write_text(content, encoding="utf-8")


def run_attacks(attacks: Sequence[Attack], hours: float, seed: int, keep: Path) -> Table:
    """Give each attack its share of the time, and its first batch in any case."""
    table, until = Table(keep), time.monotonic() + 3600 * hours
    spent = dict.fromkeys(attacks, 0.0)
    sizes = {attack: attack.size for attack in attacks}
    firsts = dict.fromkeys(attacks, 0)
    while time.monotonic() < until or not all(spent.values()):
        chosen = min(attacks, key=lambda attack: spent[attack] / attack.share)
        if math.isinf(spent[chosen]):
            break
        size, began = sizes[chosen], time.monotonic()
        records = list(run_batch(chosen, Batch(size, firsts[chosen], seed, keep)))
        for record in records:
            table.add(record)
        seconds = time.monotonic() - began
        spent[chosen] += seconds
        firsts[chosen] += size
        if any(record.findings and not record.count for record in records):
            spent[chosen] = math.inf  # another batch would end before its time as this one did
            continue
        wanted = min(chosen.batch_seconds, chosen.share * 3600 * hours / 3)
        sizes[chosen] = max(1, min(4 * size, round(size * wanted / seconds)))
        table.write()
    return table


def main() -> int:
    """Run the attacks; returns the exit status."""
    names = ", ".join(attack.name for attack in ATTACKS)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hours", type=float, default=8.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help=names)
    parser.add_argument("--keep", type=Path, default=Path("build/endurance"))
    parser.add_argument("--replay", metavar="NAME:NUMBER", help="one changed file, read again")
    arguments = parser.parse_args()
    if arguments.replay:
        from fuzzing import replay

        name, _, number = arguments.replay.partition(":")
        formats = {fmt.name: fmt for fmt in (*fuzz_readers.FORMATS, *fuzz_models.FORMATS)}
        replay(formats[name], int(number), arguments.keep)
        return 0
    attacks = [entry for entry in ATTACKS if not arguments.only or entry.name in arguments.only]
    if find_spec("distributed") is None:  # an extra
        attacks = [entry for entry in attacks if entry.name != "cluster"]
    table = run_attacks(attacks, arguments.hours, arguments.seed, arguments.keep)
    print(table.text())
    return int(any(record.findings for record in table.records.values()))


if __name__ == "__main__":
    sys.exit(main())
