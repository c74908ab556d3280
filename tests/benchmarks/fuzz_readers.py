"""Readers against damaged files: no exception but the one for people, no hang, bounded memory.

Inputs are small good files of every kind, changed at random: bytes, tokens, branches of JSON and
XML, pieces of other files, lines repeated or swapped, extreme numbers, other encodings, cut ends;
columnar files also with types at random. Each is read as the program reads it, and looked at as the
window does.

    python tests/benchmarks/fuzz_readers.py [--count 10000] [--only NAME …] [--first 0]
    python tests/benchmarks/fuzz_readers.py --replay csv:1234

Prints a line a format (its sites are where sentences arise), and the findings, of which the first
input of a kind is kept (--keep DIR); exit status 1 where there are any.
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import gzip
import io
import json
import re
import sys
import zipfile
from collections.abc import Callable
from copy import deepcopy
from dataclasses import asdict
from decimal import Decimal
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests/benchmarks")]

from fuzzing import Ask, Draw, Format, run_command

from core.datasets.groups import groups_from_file
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.datasets.summary import summarize
from core.tuning.event_lines import to_json
from core.tuning.events import Event, Progress, RunStarted, TrialFinished
from core.tuning.history.dataset_records import DatasetRecord, StoredTrial
from core.tuning.history.store import as_json, records_in
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs.past_runs import list_runs
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import RunState

Read = Callable[[Path], object]

NUMBERS = (
    b"0 1 -1 00 1e999 -1e999 1e-320 1e200 nan NaN inf -inf 99999999999999999999 0x1f 1_000 1,5"
)
WORDS = (
    rb'" "" , ; | : # \ {} [] null true false =1+1 @x -- ?? NA N/A <b> %s ((((( )))) AUGC'.split()
)
BYTES = b"\t/\r/\n/\r\n/\x00/\xff\xfe/\xef\xbb\xbf/\xe2\x82\xac/\x80/\xed\xa0\x80".split(b"/")
PIECES = (*NUMBERS.split(), *WORDS, *BYTES, b" ", b"\n\n", b"a" * 5000, b"[" * 3000, b"1:1 2:2 ")
VALUES = (
    *(None, True, False, 0, 1, -1, 0.5, 2**31, 2**63, -(2**64), 10**400, 1e308, 1e-320),
    *(float("nan"), float("inf"), "", "x", "nan", "\x00", "\ud800", "é" * 300, "2024-01-01"),
    *([], {}, [[]], {"": ""}, [1, "a", None]),
)


def changed(source: bytes, others: tuple[bytes, ...], draw: Draw) -> bytes:
    """A file with one to eight changes, mostly few: what opens is looked at more closely."""
    if source.startswith(b"PK") and draw.random() < 0.8:
        return _changed_archive(source, others, draw)
    if source[:1] in b"{[" and draw.random() < 0.6:
        return changed_json(source, draw)
    if source[:1] not in b"{[PA\xff" and draw.random() < 0.4:
        return _changed_tokens(source, draw)
    data = bytearray(source)
    for _ in range(draw.choice((1, 1, 1, 2, 2, 3, 8))):
        at = draw.randrange(len(data) + 1)
        end = min(len(data), at + draw.choice((1, 1, 2, 5, 20, 200)))
        kind = draw.randrange(9)
        if kind == 0 and at < len(data):
            data[at] = draw.randrange(256)
        elif kind in (1, 2):
            data[at : at if kind == 1 else end] = draw.choice(PIECES)
        elif kind == 3:
            del data[at:end]
        elif kind == 4:
            data[at:at] = data[at:end] * draw.choice((1, 2, 50))
        elif kind == 5:
            other = draw.choice(others)
            start = draw.randrange(len(other) + 1)
            data[at:at] = other[start : start + draw.choice((5, 50, 500))]
        elif kind == 6:
            lines = bytes(data).split(b"\n")
            draw.shuffle(lines)
            data = bytearray(b"\n".join(lines))
        elif kind == 7:
            old, new = draw.sample((b",", b";", b"\t", b" ", b":", b"|", b'"', b"."), 2)
            data = data.replace(old, new)
        elif kind == 8 and draw.random() < 0.3:
            data = _recoded(bytes(data), draw)
    if draw.random() < 0.05:
        return gzip.compress(bytes(data))[: draw.choice((None, -9, 40))]
    return bytes(data)


def _changed_tokens(data: bytes, draw: Draw) -> bytes:
    """Text with fields and separators changed, of one line or of one column of all lines."""
    tokens = re.split(rb"([,;\t \n:|]+)", data)
    separator = draw.choice(tokens[1::2] or [b","])
    if draw.random() < 0.3:
        lines = [line.split(separator) for line in data.split(b"\n")]
        column, other = draw.randrange(6), draw.randrange(6)
        piece, kind = draw.choice(PIECES[:60]), draw.randrange(4)
        for line in lines:
            if max(column, other) < len(line):
                if kind == 0:
                    line[column] = piece
                elif kind == 1:
                    line[column], line[other] = line[other], line[column]
                elif kind == 2:
                    line.insert(column, line[other])
                else:
                    del line[column]
        return b"\n".join(separator.join(line) for line in lines)
    for _ in range(draw.choice((1, 1, 2, 5))):
        at, other, kind = (
            draw.randrange(len(tokens)),
            draw.randrange(len(tokens)),
            draw.randrange(5),
        )
        if kind == 0:
            tokens[at] = draw.choice(PIECES)
        elif kind == 1:
            tokens[at] = tokens[other]
        elif kind == 2:
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif kind == 3:
            tokens[at:at] = tokens[at : at + 6] * draw.choice((1, 3, 40))
        else:
            tokens[at] = tokens[at] + draw.choice(
                (b"%", " €".encode(), b"e5", b".", b"-", b"0" * 40)
            )
    return b"".join(tokens)


def branches(tree: Any) -> list[tuple[Any, Any]]:
    """Every container of a JSON tree with a key in it."""
    keys = tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    own = [(tree, key) for key in keys]
    return own + [branch for _, key in own for branch in branches(tree[key])]


def changed_json(data: bytes, draw: Draw) -> bytes:
    """JSON, or a line of JSON lines, with a value, a key or a branch changed; it stays JSON."""
    try:
        json.loads(data)
        lines = [data]
    except ValueError:
        lines = data.splitlines()
    number = draw.randrange(len(lines))
    tree = json.loads(lines[number])
    for _ in range(draw.choice((1, 1, 2))):
        places = branches(tree)
        if not places:
            break
        (holder, key), (donor, name) = draw.choice(places), draw.choice(places)
        kind = draw.randrange(6)
        if kind < 2:
            holder[key] = deepcopy(draw.choice(VALUES))  # changed once more, perhaps
        elif kind == 2:
            holder[key] = json.loads(json.dumps(donor[name]))
        elif kind == 3 and isinstance(holder, dict):
            holder[draw.choice((*map(str, VALUES), f"{key}_", "type"))] = holder.pop(key)
        elif kind == 4:
            del holder[key]
        else:
            holder[key] = json.loads("[" * 30 + json.dumps(holder[key]) + "]" * 30)
    lines[number] = json.dumps(tree).encode()
    return b"\n".join(lines)


def _changed_archive(source: bytes, others: tuple[bytes, ...], draw: Draw) -> bytes:
    """A workbook with a change inside of a part, where the checksums of the archive fit again."""
    with zipfile.ZipFile(io.BytesIO(source)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    large = sorted(parts, key=lambda name: -len(parts[name]))
    name = draw.choice((*parts, *(large[:3] * 4)))
    kind = draw.randrange(4)
    if kind < 2:
        parts[name] = _changed_value(parts[name], draw)
    elif kind == 2:
        parts[name] = _changed_elements(parts[name], draw)
    else:
        parts[name] = changed(parts[name] or b" ", others, draw)
    if draw.random() < 0.05:
        del parts[draw.choice(list(parts))]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for other, data in parts.items():
            archive.writestr(other, data)
    return out.getvalue()


def _changed_value(data: bytes, draw: Draw) -> bytes:
    """XML that stays well formed: another text or attribute somewhere."""
    places = list(re.finditer(rb'"[^"<>]*"|>[^<>]+<', data))
    if not places:
        return data
    place = draw.choice(places)
    piece = draw.choice((*NUMBERS.split(), b"-", b"true", b"", b"A1:B9", b"A9", b"1048576"))
    return data[: place.start() + 1] + piece + data[place.end() - 1 :]


def _changed_elements(data: bytes, draw: Draw) -> bytes:
    """XML with a tag, or an element without children, repeated, taken away or put elsewhere."""
    elements = list(re.finditer(rb"<(\w[\w:]*)[^<>]*(?:/>|>[^<>]*</\1>)|<[^<>]+>", data))
    if not elements:
        return data
    element, other = draw.choice(elements), draw.choice(elements)
    text = element.group() * draw.choice((0, 0, 2, 30))
    if draw.random() < 0.4:
        text = other.group()
    return data[: element.start()] + text + data[element.end() :]


def _recoded(data: bytes, draw: Draw) -> bytearray:
    encoding = draw.choice(("utf-16", "utf-32", "utf-16-be", "cp1252", "utf-8-sig"))
    return bytearray(data.decode("utf-8", "replace").encode(encoding, "replace"))


def _table(task: str = "") -> Read:
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


def _columnar(save: str, draw: Draw) -> bytes:
    """A table with types at random, as the columnar formats have them."""
    import pyarrow as pa
    from pyarrow import feather, parquet

    rows, n_columns = draw.choice((1, 3, 12)), draw.choice((1, 2, 4, 7))
    names = [
        draw.choice(("a", "b", "y", "", "y", "é", "a b", "x" * 3000)) for _ in range(n_columns)
    ]
    columns = []
    for _ in names:
        kind = draw.choice(COLUMN_TYPES)
        values = [draw.choice(kind.values) if draw.random() < 0.9 else None for _ in range(rows)]
        columns.append(pa.array(values, getattr(pa, kind.type)(*kind.arguments)))
        if draw.random() < 0.1 and kind.type in ("string", "int64"):
            columns[-1] = columns[-1].dictionary_encode()
        elif draw.random() < 0.05:
            columns[-1] = pa.nulls(rows)
    table = pa.table(columns, names=names)
    out = io.BytesIO()
    if save == "parquet":
        parquet.write_table(table, out, row_group_size=draw.choice((1, 100)))
    else:
        feather.write_feather(table, out, compression=draw.choice(("zstd", "uncompressed")))
    return out.getvalue()


class ColumnType(NamedTuple):
    """A type of pyarrow, and values that it takes."""

    type: str
    values: tuple[Any, ...]
    arguments: tuple[Any, ...] = ()


COLUMN_TYPES = (
    ColumnType("string", ("", "a", "NA", "1,5", "\x00", "é" * 200, "2024-01-01")),
    ColumnType("large_string", ("a", "b")),
    ColumnType("int64", (0, 1, -(2**63), 2**63 - 1)),
    ColumnType("uint64", (0, 2**64 - 1)),
    ColumnType("int8", (0, 1, -128)),
    ColumnType("float64", (0.0, -0.0, 1e308, -1e308, 5e-324, float("nan"), float("inf"))),
    ColumnType("float32", (0.0, 3e38, float("-inf"))),
    ColumnType("bool_", (True, False)),
    ColumnType("binary", (b"", b"\xff\xfe", b"a")),
    ColumnType("timestamp", (0, 1, -(2**62), 2**62), ("ns",)),
    ColumnType("timestamp", (0, 1, -(2**50), 2**50), ("s",)),
    ColumnType("timestamp", (0, 10**9, -(2**62), 2**62), ("us", "Europe/Zurich")),
    ColumnType("date32", (0, 1, 2**30, -(2**31))),
    ColumnType("time64", (0, 1, 10**9), ("us",)),
    ColumnType("duration", (0, 1, -(2**62)), ("ns",)),
    ColumnType("decimal128", (Decimal(1), Decimal("1e30"), Decimal("-0.5")), (38, 2)),
)


def _binary_formats() -> tuple[Format, ...]:
    formats = []
    if find_spec("openpyxl"):
        formats.append(data_format("xlsx", ".xlsx", _sheets("openpyxl"), _table()))
    if find_spec("odf"):
        formats.append(data_format("ods", ".ods", _sheets("odf"), _table()))
    if find_spec("pyarrow"):
        parquet = [lambda t, out: t.assign(l=[[1]] * 12).to_parquet(out)]
        parquet += [lambda t, out: t.set_index("when").to_parquet(out, compression="gzip")]
        formats.append(data_format("parquet", ".parquet", tuple(map(_saved, parquet)), _table()))
        feather = [lambda t, out: t.assign(l=[[1]] * 12).to_feather(out, compression="zstd")]
        feather += [lambda t, out: t.to_feather(out, compression="uncompressed")]
        formats.append(data_format("feather", ".feather", tuple(map(_saved, feather)), _table()))
    return tuple(formats)


SEEDS: dict[str, tuple[bytes, ...]] = {}  # good files by format, of which the others take pieces


def data_format(name: str, ending: str, seeds: tuple[bytes, ...], read: Read) -> Format:
    """A format whose inputs are good files changed, and for columnar ones others."""
    SEEDS[name] = seeds

    def write(draw: Draw, path: Path) -> Ask:
        if name in ("parquet", "feather") and draw.random() < 0.5:
            data = _columnar(name, draw)
            if draw.random() < 0.3:
                data = changed(data, seeds, draw)
        else:
            others = draw.choice(list(SEEDS.values()))
            data = changed(draw.choice(seeds), others, draw)
        path.write_bytes(data)
        return partial(read, path)

    return Format(name, ending, write)


GROUPS = (b'{"first": ["a", "b"], "second": ["c"]}', b'{"x": []}', b"{}")
FORMATS = (
    data_format("csv", ".csv", CSV, _table()),
    data_format("libsvm", ".libsvm", LIBSVM, _table()),
    data_format("tokens", ".csv", TOKENS, _table("sequence")),
    data_format("molecules", ".csv", MOLECULES, _table("structure")),
    data_format("texts", ".csv", TEXTS, _table("topics")),
    data_format("arff", ".arff", ARFF, _table()),
    *_binary_formats(),
    data_format("groups", ".json", GROUPS, groups_from_file),
    data_format("plan", ".json", (json.dumps(asdict(PLAN)).encode(),), _plan),
    data_format(
        "events", ".jsonl", (b"".join(to_json(e).encode() + b"\n" for e in SCORED), EVENTS), _events
    ),
    data_format("history", ".json", (as_json([RECORD]).encode(),), _history),
)


if __name__ == "__main__":
    sys.exit(run_command(FORMATS, __doc__))
