"""Readers against damaged files: no exception but the one for people, no hang, bounded memory.

Inputs are small good files of every kind, changed at random: bytes, pieces of other files, lines
repeated or swapped, extreme numbers, other encodings, cut ends. Each is read as the program reads
it, and looked at as the window does. What is found is kept in a folder, one file a kind of finding.

    python tests/benchmarks/fuzz_readers.py [--inputs 10000] [--only NAME …] [--seed 0] [--keep DIR]

Prints a line a reader, and the findings; exit status 1 where there are any.
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import gzip
import io
import json
import random
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from types import FrameType

import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from core.datasets.groups import groups_from_file
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.datasets.summary import summarize
from core.errors import UnusableError
from core.tuning.events import Event, Progress, RunStarted, TrialFinished, to_json
from core.tuning.history.dataset_records import DatasetRecord, StoredTrial
from core.tuning.history.store import as_json, records_in
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs.past_runs import list_runs
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import RunState

SECONDS_A_MEGABYTE, LEAST_SECONDS = 1.0, 2.0
MEMORY = 1 << 30  # bytes beside what the program takes before its first file

NUMBERS = (
    b"0 1 -1 00 1e999 -1e999 1e-320 1e200 nan NaN inf -inf 99999999999999999999 0x1f 1_000 1,5"
)
WORDS = (
    rb'" "" , ; | : # \ {} [] null true false =1+1 @x -- ?? NA N/A <b> %s ((((( )))) AUGC'.split()
)
BYTES = b"\t/\r/\n/\r\n/\x00/\xff\xfe/\xef\xbb\xbf/\xe2\x82\xac/\x80/\xed\xa0\x80".split(b"/")
PIECES = (*NUMBERS.split(), *WORDS, *BYTES, b" ", b"\n\n", b"a" * 5000, b"[" * 3000, b"1:1 2:2 ")


@dataclass(frozen=True)
class Reader:
    """One way in: its name, the ending of its files, good files, and how they are read."""

    name: str
    ending: str
    seeds: tuple[bytes, ...]
    read: Callable[[Path], object]


@dataclass
class Found:
    """What a reader did with its inputs.

    Attributes:
        refused: how often it said one sentence.
        findings: {kind: (how often, the first input)}.
    """

    inputs: int = 0
    refused: int = 0
    slowest: float = 0.0
    findings: dict[str, tuple[int, bytes]] = field(default_factory=dict)


class TooSlow(BaseException):
    """Raised by the alarm; no reader may catch it."""


def changed(source: bytes, others: tuple[bytes, ...], chance: random.Random) -> bytes:
    """A file with one to eight changes, mostly few: what opens is looked at more closely."""
    if source.startswith(b"PK") and chance.random() < 0.8:
        return _changed_archive(source, others, chance)
    data = bytearray(source)
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 8))):
        at = chance.randrange(len(data) + 1)
        end = min(len(data), at + chance.choice((1, 1, 2, 5, 20, 200)))
        kind = chance.randrange(9)
        if kind == 0 and at < len(data):
            data[at] = chance.randrange(256)
        elif kind in (1, 2):
            data[at : at if kind == 1 else end] = chance.choice(PIECES)
        elif kind == 3:
            del data[at:end]
        elif kind == 4:
            data[at:at] = data[at:end] * chance.choice((1, 2, 50))
        elif kind == 5:
            other = chance.choice(others)
            start = chance.randrange(len(other) + 1)
            data[at:at] = other[start : start + chance.choice((5, 50, 500))]
        elif kind == 6:
            lines = bytes(data).split(b"\n")
            chance.shuffle(lines)
            data = bytearray(b"\n".join(lines))
        elif kind == 7:
            old, new = chance.sample((b",", b";", b"\t", b" ", b":", b"|", b'"', b"."), 2)
            data = data.replace(old, new)
        elif kind == 8 and chance.random() < 0.3:
            data = _recoded(bytes(data), chance)
    if chance.random() < 0.05:
        return gzip.compress(bytes(data))[: chance.choice((None, -9, 40))]
    return bytes(data)


def _changed_archive(source: bytes, others: tuple[bytes, ...], chance: random.Random) -> bytes:
    """A workbook with a change inside of a part, where the checksums of the archive fit again."""
    with zipfile.ZipFile(io.BytesIO(source)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    large = sorted(parts, key=lambda name: -len(parts[name]))
    name = chance.choice((*parts, *(large[:3] * 4)))
    if chance.random() < 0.5:
        parts[name] = _changed_value(parts[name], chance)
    else:
        parts[name] = changed(parts[name] or b" ", others, chance)
    if chance.random() < 0.05:
        del parts[chance.choice(list(parts))]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for other, data in parts.items():
            archive.writestr(other, data)
    return out.getvalue()


def _changed_value(data: bytes, chance: random.Random) -> bytes:
    """XML that stays well formed: another text or attribute somewhere."""
    places = list(re.finditer(rb'"[^"<>]*"|>[^<>]+<', data))
    if not places:
        return data
    place = chance.choice(places)
    piece = chance.choice((*NUMBERS.split(), b"-", b"true", b"", b"A1:B9", b"A9", b"1048576"))
    return data[: place.start() + 1] + piece + data[place.end() - 1 :]


def _recoded(data: bytes, chance: random.Random) -> bytearray:
    encoding = chance.choice(("utf-16", "utf-32", "utf-16-be", "cp1252", "utf-8-sig"))
    return bytearray(data.decode("utf-8", "replace").encode(encoding, "replace"))


def _timed(reader: Reader, path: Path, size: int) -> tuple[str, float]:
    """What went wrong, "" for nothing and "refused" for a sentence; and the seconds."""
    limit = max(LEAST_SECONDS, SECONDS_A_MEGABYTE * size / 1e6)
    began = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            reader.read(path)
        said = ""
    except UnusableError as error:
        said = "" if str(error).strip() else "an empty sentence"
        said = said or "refused"
    except TooSlow:
        said = f"slow: more than {limit:.0f} s"
    except Exception as error:
        said = f"{type(error).__name__} at {_place(error)}: {str(error)[:80]!r}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return said, time.perf_counter() - began


def _place(error: Exception) -> str:
    """The last line of the program in a traceback."""
    own = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(str(ROOT))]
    return f"{Path(own[-1].filename).relative_to(ROOT)}:{own[-1].lineno}" if own else "?"


def attack(reader: Reader, inputs: int, seed: int) -> Found:
    signal.signal(signal.SIGALRM, _stop_slow_reading)
    found, chance = Found(), random.Random(f"{reader.name} {seed}")
    everything = tuple(s for other in READERS for s in other.seeds)
    with tempfile.TemporaryDirectory(dir=_memory_folder()) as folder:
        path = Path(folder) / f"input{reader.ending}"
        for _ in range(inputs):
            data = changed(chance.choice(reader.seeds), everything, chance)
            path.write_bytes(data)
            said, seconds = _timed(reader, path, len(data))
            found.inputs += 1
            found.slowest = max(found.slowest, seconds)
            if said == "refused":
                found.refused += 1
            elif said:
                kind = said.split(": ")[0]
                count, first = found.findings.get(kind, (0, data))
                found.findings[kind] = (count + 1, min(first, data, key=len))
    return found


def _memory_folder() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _table(task: str = "") -> Callable[[Path], object]:
    def read(path: Path) -> object:
        return summarize(read_dataset(str(path), DataOptions(task=task)))

    return read


def _events(path: Path) -> object:
    """A run folder with these events: its line in the list of runs, and its state."""
    folder = path.parent / "run"
    folder.mkdir(exist_ok=True)
    (folder / "plan.json").write_text(json.dumps(asdict(PLAN)), encoding="utf-8")
    (folder / "events.jsonl").write_bytes(path.read_bytes())
    list_runs(path.parent)
    state = RunState()
    for event in RunFolder.open(folder).read_events():
        state.consume(event)
    return state


def _plan(path: Path) -> object:
    folder = path.parent / "run"
    folder.mkdir(exist_ok=True)
    (folder / "plan.json").write_bytes(path.read_bytes())
    (folder / "events.jsonl").write_bytes(EVENTS)
    list_runs(path.parent)
    return RunFolder.open(folder).plan


def _history(path: Path) -> object:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None  # whoever opens the file says so
    return records_in(text)


PLAN = Plan(DataPlan("x.csv", target="y"), "svm", "random", trials=2)
EVENTS = b"".join(to_json(event).encode() + b"\n" for event in (RunStarted(), Progress()))
SCORED: tuple[Event, ...] = (
    RunStarted(metric="accuracy", maximize=True),
    TrialFinished(number=0, setting={"C": 1.0}, score=0.9),
    TrialFinished(number=1, setting={"C": 2.0}, score=0.8),
    Progress(done=2),
)
RECORD = DatasetRecord(
    id="0123abcd",
    began="2024-01-01T00:00:00",
    model="svm",
    task="binary",
    metric="accuracy",
    strategy="gp",
    maximize=True,
    statistics=(2.0, 1.0, 2.0),
    axes=("C", "gamma"),
    trials=(StoredTrial(0, (1.0, 0.1), 0.5), StoredTrial(1, (2.0, 0.2), 0.75)),
)
CSV = (
    b"size,colour,paid,when,y\n1.5,red,yes,2024-01-05,a\n2,green,no,2024-02-01,b\n,blue,yes,"
    b"2024-03-09,a\n-3e2,red,,2024-03-10,b\n4,green,no,2024-04-01,a\n",
    "größe;preis;y\n1,5;2,25;7\n2,5;1.000,5;8\n3,5;4;9\n".encode("cp1252"),
    b'a b,"c, d",y\n"x ""q""",1,0\n"two\nlines",2,1\nz,3,0\n',
    b"1 2 0.5\n2 3 0.25\n3 4 0.125\n4 5 1e-3\n",
    b"# a note\nid\tage\ty\n17\t3\tyes\n18\t4\tno\n19\t5\tyes\n",
)
LIBSVM = (
    b"+1 1:0.5 3:1\n-1 2:1 4:-2e-3 # note\n+1 1:1\n-1 3:0.25\n",
    b"2.5 1:0 2:1e3\n-1 5:1\n0 1:1 2:2\n",
    b"1 qid:1 1:0.5\n2 qid:1 2:1\n3 qid:2 1:1\n",
)
TOKENS = (
    b"sequence,word,caps,y\ns1,the,no,DET\ns1,dog,no,NOUN\ns2,Runs,yes,VERB\ns2,fast,no,ADV\n",
    b"sequence;n;label\n1;0.5;A\n1;0.25;B\n2;0.125;A\n2;1;B\n",
)
MOLECULES = (
    b"sequence,structure,family\nGGGAAACCC,(((...))),f1\nGCAUAGC,((...)),f2\nAUNRY,.....,f1\n",
    b"name,sequence,structure\nm1,GGGGAAAACCCC,((((....))))\nm2,ACGUACGU,........\n",
)
TEXTS = (
    b"text\n" + b"the cat sat on the mat\na dog met a cat in the park\nwe walk a dog\n" * 4,
    (
        "text;n\n" + '"Die Katzen; die Hunde, immer überall";1\nHunde und Katzen im Park;2\n' * 9
    ).encode(),
    (
        "text\n" + "кот и пёс в саду спят\n猫和狗 在 公园 狗 跑 很快\nкот спит в саду днём\n" * 5
    ).encode(),
)
ARFF = (
    b"% made here\n@relation r\n@attribute size numeric\n@attribute 'the colour' {red,blue,'dark"
    b" green'}\n@attribute y {a,b}\n@data\n1,red,a\n2.5,'dark green',b\n?,blue,a\n% so\n4,red,b\n",
    b'@RELATION "x"\n@ATTRIBUTE when date "yyyy-MM-dd"\n@ATTRIBUTE s string\n@ATTRIBUTE n real\n'
    b'@DATA\n2024-01-05,"a, b",1\n2024-01-06,"it\\"s",2\n2024-01-07,?,3\n',
)


def _saved(save: Callable[[pd.DataFrame, io.BytesIO], object]) -> bytes:
    table = pd.DataFrame(
        {
            "size": [1.5, None, 3.25, 4.0] * 3,
            "colour": pd.Categorical(["red", "blue", None, "red"] * 3),
            "count": [1, 2, 3, 4] * 3,
            "paid": [True, False, True, True] * 3,
            "when": pd.date_range("2024-01-01", periods=12),
            "text": ["a", "", "1,5", "NA"] * 3,
            "y": ["a", "b", "a", "b"] * 3,
        }
    )
    out = io.BytesIO()
    save(table, out)
    return out.getvalue()


def _sheets(engine: str) -> tuple[bytes, ...]:
    """Workbooks: one of a table, one with a title, merged cells and a second sheet."""

    def several(table: pd.DataFrame, out: io.BytesIO) -> None:
        with pd.ExcelWriter(out, engine=engine) as book:
            table.set_index(["colour", "count"]).sort_index().to_excel(book, startrow=2, startcol=1)
            table.to_excel(book, sheet_name="Second", index=False)

    plain = _saved(lambda table, out: table.to_excel(out, index=False, engine=engine))
    return plain, _saved(several)


def _binary_readers() -> tuple[Reader, ...]:
    found: list[Reader] = []
    if find_spec("openpyxl"):
        found.append(Reader("xlsx", ".xlsx", _sheets("openpyxl"), _table()))
    if find_spec("odf"):
        found.append(Reader("ods", ".ods", _sheets("odf"), _table()))
    if find_spec("pyarrow"):
        nested = [lambda t, out: t.assign(l=[[1]] * 12).to_parquet(out)]
        nested += [lambda t, out: t.set_index("when").to_parquet(out, compression="gzip")]
        found.append(Reader("parquet", ".parquet", tuple(map(_saved, nested)), _table()))
        feather = [lambda t, out: t.assign(l=[[1]] * 12).to_feather(out, compression="zstd")]
        feather += [lambda t, out: t.to_feather(out, compression="uncompressed")]
        found.append(Reader("feather", ".feather", tuple(map(_saved, feather)), _table()))
    return tuple(found)


GROUPS = (b'{"first": ["a", "b"], "second": ["c"]}', b'{"x": []}', b"{}")
READERS = (
    Reader("csv", ".csv", CSV, _table()),
    Reader("libsvm", ".libsvm", LIBSVM, _table()),
    Reader("tokens", ".csv", TOKENS, _table("sequence")),
    Reader("molecules", ".csv", MOLECULES, _table("structure")),
    Reader("texts", ".csv", TEXTS, _table("topics")),
    Reader("arff", ".arff", ARFF, _table()),
    *_binary_readers(),
    Reader("groups", ".json", GROUPS, groups_from_file),
    Reader("plan", ".json", (json.dumps(asdict(PLAN)).encode(),), _plan),
    Reader(
        "events", ".jsonl", (b"".join(to_json(e).encode() + b"\n" for e in SCORED), EVENTS), _events
    ),
    Reader("history", ".json", (as_json([RECORD]).encode(),), _history),
)


def _stop_slow_reading(signal_number: int, frame: FrameType | None) -> None:
    raise TooSlow


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=10_000, help="for each reader")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder for the inputs of what is found")
    given = parser.parse_args()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    resource.setrlimit(resource.RLIMIT_AS, (before + 4 * MEMORY, resource.RLIM_INFINITY))
    print(f"{'reader':10} {'inputs':>8} {'refused':>8} {'slowest':>8} {'memory':>8} findings")
    bad: Counter[str] = Counter()
    for reader in READERS:
        if given.only and reader.name not in given.only:
            continue
        found = attack(reader, given.inputs, given.seed)
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
        print(
            f"{reader.name:10} {found.inputs:8} {found.refused:8} {found.slowest:6.2f} s"
            f" {most / 1e6:5.0f} MB {len(found.findings)}",
            flush=True,
        )
        if most > MEMORY:
            found.findings["memory"] = (1, b"")
        for kind, (count, data) in sorted(found.findings.items()):
            bad[kind] += count
            print(f"  {count} × {kind}: {data[:120]!r}")
            if given.keep:
                given.keep.mkdir(parents=True, exist_ok=True)
                (given.keep / f"{reader.name}-{len(bad)}{reader.ending}").write_bytes(data)
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
