"""Tables made to explode models: each run ends in a model or a sentence, within time and memory.

python tests/benchmarks/exploding_tables.py [--tables 100] [--seed 0] [--only KIND] [--gigabytes 2]

Table after table is generated and tuned by `tunescope tune`, under `auto` and under the model that
it is made to explode, on a computer that seems to have so many gigabytes free (`TUNESCOPE_MEMORY`).
All processes of a run are watched: the bytes that they cannot give back, together, at most those
gigabytes. Prints a line a run and the worst memory and time; exit status 1 where a run crashed,
hung, took more, or said nothing that a person can use. A run takes some 20 seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

import numpy as np

from core.datasets.memory_limit import VARIABLE

MINUTES = 0.1
# Trials may take three times the minutes on a busy computer, the first one its own limit, the end a
# minute (`MIN_ENDING_SECONDS`); reading is not counted in the minutes.
GRACE_SECONDS = 3 * 60 * MINUTES + 30 + 60 + 60
LOOK_SECONDS = 0.1
MAX_SENTENCE, MAX_OUTPUT = (
    2_000,
    200_000,
)  # letters of standard error's last line, and of all output
MAX_EVENT_BYTES = 5e7  # of events.jsonl


@dataclass(frozen=True)
class Explosion:
    """A generated table: its file's name, who makes it, the model meant, and more arguments."""

    name: str
    write: Callable[[Path, np.random.Generator], object]
    model: str
    suffix: str = "csv"
    arguments: str = "--target y"


@dataclass(frozen=True)
class ExplosionRecord:
    """One run: what it was, how it ended, and what was wrong with that; "" for nothing."""

    name: str
    seconds: float
    memory: int  # bytes of all its processes at the worst moment
    ending: str
    problem: str


# ---------------------------------------------------------------------------------------- tables


def write_columns(path: Path, columns: dict[str, object], separator: str = ",") -> None:
    """A table of columns of texts or numbers."""
    texts = [np.asarray(column).astype(str) for column in columns.values()]
    lines = [separator.join(columns), *map(separator.join, zip(*texts, strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def numbers(random: np.random.Generator, rows: int, columns: int) -> dict[str, object]:
    """Columns of numbers of three digits."""
    return {f"x{index}": random.integers(0, 999, rows) for index in range(columns)}


def labels(random: np.random.Generator, rows: int, classes: int = 2) -> np.ndarray:
    """A class a row, each at random."""
    return np.char.add("class ", random.integers(0, classes, rows).astype(str))


def sentences(random: np.random.Generator, rows: int, words: int, vocabulary: float) -> list[str]:
    """A text of so many words a row."""
    codes = random.integers(0, int(vocabulary), (rows, words))
    return [" ".join(f"word{code:x}" for code in row) for row in codes]


def wide_texts(path: Path, random: np.random.Generator) -> None:
    texts = {f"t{column}": sentences(random, 3000, 300, 1e5) for column in range(2)}
    write_columns(path, texts | {"y": labels(random, 3000)})


def distinct_words(path: Path, random: np.random.Generator) -> None:
    rows = [" ".join(f"w{row}x{word}" for word in range(100_000)) for row in range(40)]
    write_columns(path, {"t": rows, "y": labels(random, 40)})


def many_classes(classes: int, rows: int, columns: int) -> Callable[..., None]:
    def write(path: Path, random: np.random.Generator) -> None:
        table = numbers(random, rows, columns)
        write_columns(path, table | {"y": labels(random, rows, classes)})

    return write


def random_numbers(rows: int, columns: int) -> Callable[..., None]:
    def write(path: Path, random: np.random.Generator) -> None:
        write_columns(path, numbers(random, rows, columns) | {"y": random.normal(size=rows)})

    return write


def many_categories(path: Path, random: np.random.Generator) -> None:
    names = np.char.add("c", (np.arange(300_000) // 3).astype(str))
    write_columns(path, {"a": names, "b": names[::-1], "y": labels(random, len(names))})


def category_columns(path: Path, random: np.random.Generator) -> None:
    columns = {f"c{i}": labels(random, 10_000, 60) for i in range(200)}
    write_columns(path, columns | {"y": labels(random, 10_000)})


def constant_columns(path: Path, random: np.random.Generator) -> None:
    columns: dict[str, object] = {f"x{i}": np.full(400, 7) for i in range(5000)}
    write_columns(path, columns | numbers(random, 400, 1) | {"y": labels(random, 400)})


def rare_class(path: Path, random: np.random.Generator) -> None:
    y = np.where(np.arange(200_000) % 100_000 == 0, "rare", "usual")
    write_columns(path, numbers(random, len(y), 4) | {"y": y})


def repeated_ids(path: Path, random: np.random.Generator) -> None:
    ids = np.repeat(np.arange(10) + 10**15, 5000)
    write_columns(
        path, {"patient_id": ids} | numbers(random, 50_000, 3) | {"y": labels(random, 50_000)}
    )


def giant_numbers(path: Path, random: np.random.Generator) -> None:
    sizes = ["1e300", "-1e308", "1e-320", "0", "3", "9" * 300]
    columns: dict[str, object] = {f"x{i}": random.choice(sizes, 300) for i in range(5)}
    write_columns(path, columns | {"y": labels(random, 300)})


def long_numbers(path: Path, random: np.random.Generator) -> None:
    digits = ["1" * 10_000, "2." + "3" * 10_000, "4e" + "5" * 1000]
    write_columns(path, {"x": random.choice(digits, 500), "y": labels(random, 500)})


def giant_cell(path: Path, random: np.random.Generator) -> None:
    cells = np.array(["few words here"] * 200, dtype=object)
    cells[100] = "word " * 2_000_000
    path.write_text(
        "t,y\n"
        + "".join(
            f"{cell},{label}\n" for cell, label in zip(cells, labels(random, 200), strict=True)
        )
    )


def giant_label(path: Path, random: np.random.Generator) -> None:
    y = np.array([*labels(random, 200)], dtype=object)
    y[::2] = "L" * 1_000_000
    rows = zip(random.integers(0, 99, 200), y, strict=True)
    path.write_text("x,y\n" + "".join(f"{x},{label}\n" for x, label in rows))


def long_names(path: Path, random: np.random.Generator) -> None:
    table = {
        f"{i}" + "n" * 1_000_000: column
        for i, column in enumerate(numbers(random, 200, 4).values())
    }
    write_columns(path, table | {"y": labels(random, 200)})


def many_names(path: Path, random: np.random.Generator) -> None:
    table = {f"a column of the name {i}": random.integers(0, 9, 30) for i in range(100_000)}
    write_columns(path, table | {"y": labels(random, 30)})


def equal_rows(path: Path, random: np.random.Generator) -> None:
    path.write_text("a,b,y\n" + "1,2,no\n" * 300_000 + "1,2,yes\n" * 300_000)


def no_values(path: Path, random: np.random.Generator) -> None:
    path.write_text(
        ",".join(f"x{i}" for i in range(300))
        + ",y\n"
        + ("," * 300 + "a\n" + "," * 300 + "b\n") * 3000
    )


def class_a_row(path: Path, random: np.random.Generator) -> None:
    write_columns(path, numbers(random, 5000, 3) | {"y": [f"only {i}" for i in range(5000)]})


def open_quote(path: Path, random: np.random.Generator) -> None:
    path.write_text('x,y\n1,a\n2,"b\n' + "3,c\n" * 4_000_000)


def moments(path: Path, random: np.random.Generator) -> None:
    days = np.datetime64("1700-01-01T00:00:00") + random.integers(0, 10**10, 100_000)
    write_columns(path, {"time": days, "y": random.normal(size=100_000)})


def libsvm_rows(rows: int, features: float, entries: int) -> Callable[..., None]:
    def write(path: Path, random: np.random.Generator) -> None:
        with path.open("w") as file:
            for _ in range(rows):
                indices = np.unique(random.integers(1, int(features), entries))
                pairs = " ".join(
                    f"{index}:{value}"
                    for index, value in zip(
                        indices, random.integers(1, 9, len(indices)), strict=True
                    )
                )
                file.write(f"{random.integers(0, 2)} {pairs}\n")

    return write


def arff_levels(path: Path, random: np.random.Generator) -> None:
    levels = ",".join(f"v{i}" for i in range(100_000))
    rows = "".join(
        f"v{random.integers(0, 100_000)},{random.choice(['a', 'b'])}\n" for _ in range(2000)
    )
    path.write_text(f"@relation r\n@attribute x {{{levels}}}\n@attribute y {{a,b}}\n@data\n{rows}")


def long_sequences(path: Path, random: np.random.Generator) -> None:
    tags = random.integers(0, 20, 60_000)
    columns = {
        "sequence": np.repeat(np.arange(6), 10_000),
        "word": random.integers(0, 30_000, 60_000),
    }
    words = {"word": np.char.add("w", columns["word"].astype(str))}
    write_columns(path, columns | words | {"tag": np.char.add("T", tags.astype(str))})


def many_tags(path: Path, random: np.random.Generator) -> None:
    tags = random.integers(0, 400, 20_000)
    columns = {
        "sequence": np.repeat(np.arange(2000), 10),
        "word": np.char.add("w", (tags // 2).astype(str)),
    }
    write_columns(path, columns | {"tag": np.char.add("T", tags.astype(str))})


def long_molecules(path: Path, random: np.random.Generator) -> None:
    molecules = ["".join(random.choice([*"ACGU"], 3000)) for _ in range(6)]
    structures = ["(" * 200 + "." * 2600 + ")" * 200] * 6
    write_columns(path, {"sequence": molecules, "structure": structures})


def topic_texts(path: Path, random: np.random.Generator) -> None:
    texts = sentences(random, 400, 3000, 1e6)
    write_columns(path, {"text": texts})


TABLES = (
    Explosion("wide texts", wide_texts, "logistic"),
    Explosion("2,000 classes, pairs of them", many_classes(2000, 10_000, 6), "svm"),
    Explosion("1,000 classes, leaves", many_classes(1000, 20_000, 6), "forest"),
    Explosion("1,000 classes, wide", many_classes(1000, 8000, 60), "mlp"),
    Explosion("10⁵ categories", many_categories, "elastic-net"),
    Explosion("200 columns of 60 categories", category_columns, "logistic"),
    Explosion("10⁶ rows", random_numbers(1_000_000, 3), "linear"),
    Explosion("constant columns", constant_columns, "naive-bayes"),
    Explosion("a leaf a row", random_numbers(250_000, 3), "forest"),
    Explosion("20,000 columns", random_numbers(200, 20_000), "boosting"),
    Explosion("one class in 10⁵", rare_class, "knn"),
    Explosion("repeated ids", repeated_ids, "boosting"),
    Explosion("giant numbers", giant_numbers, "svm"),
    Explosion("numbers of 10,000 digits", long_numbers, "mlp"),
    Explosion("a cell of 10 MB", giant_cell, "logistic"),
    Explosion("a label of 1 MB", giant_label, "logistic"),
    Explosion("names of 10⁶ letters", long_names, "forest"),
    Explosion("10⁵ named columns", many_names, "logistic"),
    Explosion("10⁵ distinct words a row", distinct_words, "logistic-l1l2"),
    Explosion("equal rows", equal_rows, "extra-trees"),
    Explosion("no value at all", no_values, "knn"),
    Explosion("a class a row", class_a_row, "boosting"),
    Explosion("a quote that stays open", open_quote, "linear"),
    Explosion("10⁵ moments", moments, "extra-trees"),
    Explosion("index 2³¹", libsvm_rows(200, 2**31, 30), "logistic", "svm", ""),
    Explosion("10⁶ sparse columns", libsvm_rows(20_000, 1e6, 60), "elastic-net", "svm", ""),
    Explosion("sparse, all pairs of rows", libsvm_rows(60_000, 3000, 40), "svm", "svm", ""),
    Explosion("10⁵ declared values", arff_levels, "logistic", "arff"),
    Explosion("long sequences", long_sequences, "crf", arguments="--target tag --task sequence"),
    Explosion("400 tags", many_tags, "crf", arguments="--target tag --task sequence"),
    Explosion("molecules of 3,000 bases", long_molecules, "rna", arguments=""),
    Explosion("10⁶ words in topics", topic_texts, "lda", arguments="--task topics"),
    Explosion("neighbours of 60,000 rows", random_numbers(60_000, 40), "knn"),
)  # fmt: skip


# ------------------------------------------------------------------------------------------ runs


def memory_of_session(leader: int) -> int:
    """Bytes that the processes of a session cannot give back, shared pages counted once."""
    total = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == leader:
                lines = (folder / "smaps_rollup").read_text().splitlines()
                sizes = {line.split(":")[0]: line.split()[1] for line in lines[1:]}
                total += 1024 * (int(sizes["Pss_Anon"]) + int(sizes["Pss_Shmem"]))
    return total


def run_tune(name: str, words: list[str], folder: Path, limit: int) -> ExplosionRecord:
    """One run of `tunescope tune` in a session of its own, watched until it ends."""
    environment = os.environ | {
        VARIABLE: str(limit),
        "TUNESCOPE_RUNS": str(folder / "runs"),
        "TUNESCOPE_HISTORY": str(folder / "history.sqlite"),
    }
    command = [
        sys.executable,
        "-P",
        "-m",
        "app",
        "tune",
        *words,
        "--run-dir",
        str(folder / "run"),
        "--json",
    ]
    with (folder / "out").open("w") as out, (folder / "err").open("w") as err:
        start = time.monotonic()
        process = subprocess.Popen(
            command,
            stdout=out,
            stderr=err,
            env=environment,
            cwd=Path(__file__).parents[2],
            start_new_session=True,
        )
        # A session has a niceness of its own.
        with contextlib.suppress(OSError, IndexError):
            niceness = Path("/proc/self/autogroup").read_text().split()[-1]
            Path(f"/proc/{process.pid}/autogroup").write_text(niceness)
        memory, seconds = 0, 0.0
        while process.poll() is None and seconds < GRACE_SECONDS:
            memory = max(memory, memory_of_session(process.pid))
            time.sleep(LOOK_SECONDS)
            seconds = time.monotonic() - start
        status = process.poll()
        for pid in session_of(process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
    ending, problem = judge(status, folder)
    if memory > limit:
        problem = problem or f"more than {limit / 1e9:.2g} GB"
    return ExplosionRecord(name, seconds, memory, ending, problem)


def session_of(leader: int) -> Iterator[int]:
    """The processes of a session."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            if int((folder / "stat").read_text().rpartition(")")[2].split()[3]) == leader:
                yield int(folder.name)


def judge(status: int | None, folder: Path) -> tuple[str, str]:
    """How a run ended in a few words, and what was wrong with that."""
    output, errors = (
        (folder / name).read_text(encoding="utf-8", errors="replace") for name in ("out", "err")
    )
    sentence = next(
        (
            line
            for line in reversed(errors.replace("\r", "\n").splitlines())
            if line.startswith("tunescope: ")
        ),
        "",
    )
    events = folder / "run" / "events.jsonl"
    if status is None:
        return "hung", f"no end after {GRACE_SECONDS:.0f} s"
    if "Traceback" in errors or status < 0:
        return f"status {status}", errors.strip().splitlines()[-1][
            :300
        ] if errors.strip() else "died"
    if len(output) + len(errors) > MAX_OUTPUT or len(sentence) > MAX_SENTENCE:
        return f"status {status}", f"{len(output)} + {len(errors)} letters of output"
    if events.exists() and events.stat().st_size > MAX_EVENT_BYTES:
        return f"status {status}", f"{events.stat().st_size / 1e6:.0f} MB of events"
    if status == 0:
        result = json.loads(output.splitlines()[-1])
        return f"{result['model']} {result['test']}"[:60], "" if result["test"] else "no test score"
    if "No trial gave a score" in errors or not sentence:
        return f"status {status}", "no sentence that helps: " + errors[-200:]
    return sentence, ""


def run(
    tables: int, seed: int, limit: int = 2 * 10**9, only: str = ""
) -> Iterator[ExplosionRecord]:
    """Two runs a table, by `auto` and by the model meant."""
    kinds = [table for table in TABLES if only in table.name]
    for index, table in enumerate(islice(cycle(kinds), tables)):
        with tempfile.TemporaryDirectory(prefix="exploding-") as scratch:
            file = Path(scratch) / f"table.{table.suffix}"
            table.write(file, np.random.default_rng([seed, index]))
            words = [
                str(file),
                *table.arguments.split(),
                "--minutes",
                str(MINUTES),
                "--seed",
                str(seed),
            ]
            for model in ("auto", table.model):
                folder = Path(scratch) / model
                folder.mkdir()
                # Sequences, molecules and topics have one model each, which needs no name.
                chosen = (
                    ["--model", model] if model != "auto" or "target y" in table.arguments else []
                )
                yield run_tune(f"{table.name}, {model}", [*words, *chosen], folder, limit)


def main() -> int:
    """Run so many tables; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="part of the name of a kind of table")
    parser.add_argument("--gigabytes", type=float, default=2.0)
    arguments = parser.parse_args()
    records = []
    limit = int(arguments.gigabytes * 1e9)
    for record in run(arguments.tables, arguments.seed, limit, arguments.only):
        records.append(record)
        state = f"FAULT {record.problem}" if record.problem else record.ending
        print(
            f"{record.name:40} {record.seconds:6.1f} s {record.memory / 1e9:5.2f} GB  {state}",
            flush=True,
        )
    slowest, largest = (max(records, key=key) for key in (lambda r: r.seconds, lambda r: r.memory))
    faults = sum(bool(record.problem) for record in records)
    print(f"{len(records)} runs, {faults} with a fault")
    print(f"longest {slowest.seconds:.0f} s ({slowest.name})")
    print(f"largest {largest.memory / 1e9:.2f} GB of {limit / 1e9:.2f} ({largest.name})")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
