"""All attacks on files, models, runs and folders, one after another until the time is up.

python tests/benchmarks/endurance.py [--hours 8] [--processes 2]

Each attack takes batches in turn, with new seeds. Prints a line an attack: batches, what they made,
and those that found something, whose output is kept in the folder that --keep names. Exit status 1
where there are any. Twelve batches take some three minutes on two processors.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
LONGEST = 1800  # seconds that a batch may take


@dataclass(frozen=True)
class Attack:
    """A script that takes a seed, and the size of one batch of it."""

    name: str
    unit: str
    size: int  # of one batch, in such units
    script: str
    arguments: str  # {seed}, and {first} for the number of the first unit

    def command(self, batch: int) -> list[str]:
        """What one batch runs."""
        words = self.arguments.format(seed=batch, first=batch * self.size, size=self.size)
        return [sys.executable, str(HERE / self.script), *words.split()]


ATTACKS = (
    Attack("killed runs", "kills", 4, "bench_kills.py", "--rounds {size} --seed {seed}"),
    Attack("changed models", "files", 500, "fuzz_models.py", "--count {size} --first {first}"),
    Attack("changed data", "files of each kind", 100, "fuzz_readers.py",
           "--inputs {size} --seed {seed}"),
    Attack("programs at once", "rounds", 40, "bench_run_folders.py", "--new 20 --same 20"),
)  # fmt: skip


def run_batch(attack: Attack, batch: int) -> tuple[Attack, int, int, str]:
    """One batch: its attack and number, its exit status, and its output."""
    try:
        ended = subprocess.run(
            attack.command(batch),
            cwd=HERE.parents[1],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=LONGEST,
        )
    except subprocess.TimeoutExpired as error:
        return attack, batch, 1, f"it hangs\n{error.output}"
    return attack, batch, ended.returncode, ended.stdout


def main() -> int:
    """Run batches until the time is up; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hours", type=float, default=8.0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--keep", type=Path, default=Path("build/endurance"))
    arguments = parser.parse_args()
    until = time.monotonic() + 3600 * arguments.hours
    batches = itertools.count(1)
    work = ((attack, batch) for batch in batches for attack in ATTACKS)
    done, bad = Counter[str](), Counter[str]()
    with ThreadPoolExecutor(arguments.processes) as threads:
        running: set[Future[tuple[Attack, int, int, str]]] = set()
        while running or time.monotonic() < until:
            while time.monotonic() < until and len(running) < arguments.processes:
                running.add(threads.submit(run_batch, *next(work)))
            ended, running = wait(running, return_when=FIRST_COMPLETED)
            for attack, batch, status, output in (future.result() for future in ended):
                done[attack.name] += 1
                if status:
                    bad[attack.name] += 1
                    arguments.keep.mkdir(parents=True, exist_ok=True)
                    path = arguments.keep / f"{attack.script.removesuffix('.py')}-{batch}.txt"
                    path.write_text(output, encoding="utf-8")
                    print(f"{attack.name}, batch {batch}: {path}", flush=True)
    for attack in ATTACKS:
        count, found = done[attack.name], bad[attack.name]
        size = f"{count * attack.size:,} {attack.unit}"
        print(f"{attack.name:18} {count:5} batches {size:28} {found} with a finding")
    return int(bad.total() > 0)


if __name__ == "__main__":
    sys.exit(main())
