"""Tables with times in them, as databases, spreadsheets and loggers export them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest

from core.datasets.files.libsvm import looks_like_libsvm
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.export.bundle.column_preparation import prepare_columns

Write = Callable[..., str]
TIMES = [
    datetime(2024, 3, 5, 18, 54, 2, 123456) + timedelta(hours=7 * i, minutes=11 * i, seconds=13 * i)
    for i in range(60)
]


def _us(time: datetime, year: str = "%y", seconds: str = "") -> str:
    half = "PM" if time.hour > 11 else "AM"
    clock = f"{time.hour % 12 or 12}:{time:%M}{time.strftime(seconds)} {half}"
    return f"{time.month}/{time.day}/{time.strftime(year)} {clock}"


# {what wrote it: how it writes a time}, by strftime or a function
WRITTEN: dict[str, str | Callable[[datetime], str]] = {
    "minutes": "%Y-%m-%d %H:%M",
    "clock": "%H:%M:%S",
    "clock without seconds": "%H:%M",
    "postgresql timestamptz": "%Y-%m-%d %H:%M:%S.%f+01",
    "postgresql timestamp": "%Y-%m-%d %H:%M:%S.%f",
    "mysql datetime, sqlite": "%Y-%m-%d %H:%M:%S",
    "mysql datetime(3)": lambda time: time.isoformat(" ", "milliseconds"),
    "sqlite julian day": lambda time: f"{2460000 + time.timestamp() // 86400:.0f}",
    "sqlite iso": "%Y-%m-%dT%H:%M:%SZ",
    "excel german": "%d.%m.%Y %H:%M",
    "excel german seconds": "%d.%m.%Y %H:%M:%S",
    "excel german short": "%d.%m.%y %H:%M",
    "excel us": _us,
    "excel us with seconds": lambda time: _us(time, "%Y", ":%S"),
    "excel us 24 hours": lambda time: f"{time.month}/{time.day}/{time:%Y %H:%M}",
    "excel british": "%d/%m/%Y %H:%M",
    "excel french seconds": "%d/%m/%Y %H:%M:%S",
    "excel swiss two digits": "%d/%m/%y %H:%M",
    "excel japanese": lambda time: f"{time.year}/{time.month}/{time.day} {time:%H:%M}",
    "excel dutch": "%d-%m-%Y %H:%M",
    "logger": lambda time: time.isoformat("T", "milliseconds") + "Z",
    "python logging, comma": lambda time: f"{time:%Y-%m-%d %H:%M:%S},{time.microsecond // 1000}",
    "syslog": lambda time: f"{time:%b} {time.day:2d} {time:%H:%M:%S}",
    "syslog rfc 5424": lambda time: time.isoformat() + "+00:00",
    "apache": "%d/%b/%Y:%H:%M:%S +0100",
    "nginx error": "%Y/%m/%d %H:%M:%S",
    "iso zone": "%Y-%m-%dT%H:%M:%S+05:30",
    "iso zone without colon": "%Y-%m-%dT%H:%M:%S+0530",
    "sql server": lambda time: time.isoformat(" ") + "0 +01:00",
    "journald short-full": "%a %Y-%m-%d %H:%M:%S UTC",
    "journald microseconds": lambda time: str(int(time.timestamp() * 10**6)),
    "unix seconds": lambda time: str(int(time.timestamp())),
    "influxdb nanoseconds": lambda time: str(int(time.timestamp() * 10**6) * 1000),
    "influxdb rfc 3339": lambda time: time.isoformat() + "789Z",
    "unix date": "%a %b %d %H:%M:%S %Y",
    "mail": "%a, %d %b %Y %H:%M:%S +0000",
    "oracle": "%d-%b-%y %I.%M.%S.%f %p",
}
COUNTED = ("sqlite julian day", "journald microseconds", "unix seconds", "influxdb nanoseconds")


def cells_of(name: str, delimiter: str = ",") -> list[str]:
    """The times as they stand in a table: in quotes where they hold its delimiter."""
    form = WRITTEN[name]
    cells = [time.strftime(form) if isinstance(form, str) else form(time) for time in TIMES]
    return [f'"{cell}"' if delimiter in cell else cell for cell in cells]


def table_text(name: str, delimiter: str, decimal: str, end: str, place: int) -> str:
    """A table with a column of times at a place, three numbers and a class."""
    columns = {
        "size": [f"{i * 0.116 + 0.5:.3f}".replace(".", decimal) for i in range(60)],
        "weight": [str(i % 7) for i in range(60)],
        "kind": ["ab"[i % 2] for i in range(60)],
    }
    items = list(columns.items())
    items.insert(place, ("time", cells_of(name, delimiter)))
    names, cells = zip(*items, strict=True)
    return "".join(delimiter.join(row) + end for row in [names, *zip(*cells, strict=True)])


TABLES = [(",", ".", "\r\n", 2), (";", ",", "\r\n", 0), ("\t", ".", "\n", 0), (",", ".", "\n", 0)]


@pytest.mark.parametrize(("number", "name"), enumerate(WRITTEN))
def test_times_open_in_every_way_of_writing(write: Write, number: int, name: str) -> None:
    delimiter, decimal, end, place = TABLES[number % len(TABLES)]
    text = table_text(name, delimiter, decimal, end, place)
    dataset = read_dataset(write(text))
    names = ["size", "weight", "kind"]
    names.insert(place, "time")
    assert [column.name for column in dataset.columns] == names
    kinds = {column.name: column.kind for column in dataset.columns}
    of_time = "number" if name in COUNTED else "date"
    assert kinds == {"time": of_time, "size": "number", "weight": "number", "kind": "category"}
    assert (dataset.source.format, dataset.rows, dataset.classes) == ("csv", 60, ("a", "b"))
    assert dataset.table["size"].tolist() == [round(i * 0.116 + 0.5, 3) for i in range(60)]
    if name in COUNTED:
        return
    # What pandas reads by the format is what was written, up to what the writing leaves out.
    date_format = dataset.columns[place].date_format
    read = pd.to_datetime(dataset.table["time"], format=date_format, utc=True)
    assert read.notna().all()
    assert read.nunique() == len(set(cells_of(name)))
    # What is taken away reads them alike, without pandas.
    part = {"column": "time", "kind": "date", "format": date_format}
    part |= {"fill": 0.0, "mean": 0.0, "scale": 1.0}
    how = {"quote": '"', "padded": False, "decimal": decimal, "thousands": "", "missing": [""]}
    alike = prepare_columns({"parts": [part], "reading": how}, text)[:, 0]
    seconds = read.dt.floor("s").astype("datetime64[s, UTC]").astype("int64")
    assert alike.tolist() == seconds.tolist()
    if re.search("2024|/24", cells_of(name)[0]):
        days = abs(read - pd.Series([time.replace(tzinfo=UTC) for time in TIMES]))
        assert days.max() < timedelta(hours=6)


@pytest.mark.parametrize(("number", "name"), enumerate(WRITTEN))
def test_a_time_alone_beside_the_target_is_no_libsvm(write: Write, number: int, name: str) -> None:
    texts = []
    for delimiter, head in itertools.product((",", "\t"), ("time{}class\n", "")):
        rows = [f"{cell}{delimiter}{i % 3}\n" for i, cell in enumerate(cells_of(name, delimiter))]
        texts.append(head.format(delimiter) + "".join(rows))
        assert not looks_like_libsvm(texts[-1])
    dataset = read_dataset(write(texts[number % 4]), DataOptions(task="multiclass"))
    assert dataset.feature_names == ["column 1" if number % 2 else "time"]


def test_influxdb_annotated_csv(write: Write) -> None:
    """The three annotations above the header and the empty column in front are InfluxDB 2's own."""
    lines = [
        "#group,false,false,true,true,false,false,true,true",
        "#datatype,string,long,dateTime:RFC3339,dateTime:RFC3339,dateTime:RFC3339,double,string,"
        "string",
        "#default,mean,,,,,,,",
        ",result,table,_start,_stop,_time,_value,_field,state",
    ]
    span = "2024-03-05T00:00:00Z,2024-04-05T00:00:00Z"
    for i, time in enumerate(TIMES):
        lines.append(f",,0,{span},{time.isoformat()}Z,{i * 0.5},load,{'ab'[i % 2]}")
    dataset = read_dataset(write("\r\n".join(lines) + "\r\n"))
    kinds = {column.name: (column.kind, column.role) for column in dataset.columns}
    assert kinds["_time"] == ("date", "feature")
    assert kinds["_value"] == ("number", "feature")
    assert kinds["state"] == ("category", "target")
    assert dataset.feature_names == ["_time", "_value"]
    assert dataset.rows == 60


LIBSVM = {
    "plain": "+1 1:0.5 3:2\n-1 2:1e-3 3:-1\n",
    "qid": "2 qid:1 1:0.5 2:1\n1 qid:1 1:3\n0 qid:2 3:1\n",
    "comments": "# head\n1 1:2 # a comment, with 12:30, in it\n0 2:3 #docid = 12\n",
    "one pair": "1 5:1\n0 17:1\n1 3:1\n",
    "tabs": "1\t1:2\t3:4\n0\t2:1\n",
    "small values": "1 18:54 19:02\n0 3:10 5:11\n",
    "faulty": "1 1:2 3:4\n1 3:1.5.2\n0 2:1\n0 1:1\n",
    "labels": "one 3:1\n1 3:1\n0 2:1\n",
    "no header, crlf": "1 1:2\r\n0 3:4\r\n",
}


@pytest.mark.parametrize("name", LIBSVM)
def test_libsvm_is_still_recognized(name: str) -> None:
    assert looks_like_libsvm(LIBSVM[name])


def test_clocks_between_blanks_are_no_pairs() -> None:
    assert not looks_like_libsvm("".join(f"{i} {i % 24}:{i % 60:02d}\n" for i in range(50)))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("name", ["excel us", "syslog", "clock"])
def test_marks_mixed_line_ends_and_long_cells(write: Write, encoding: str, name: str) -> None:
    ends = ["\n", "\r\n"]
    lines = ["time,note,size,kind"]
    for i, time in enumerate(cells_of(name)):
        note = "18:54,0.116 " * 90_000 if i == 5 else f"at 18:{i:02d}, again"
        lines.append(f'{time},"{note}",{i},{"ab"[i % 2]}')
    text = "".join(line + ends[i % 2] for i, line in enumerate(lines))
    path = write(text, encoding=encoding)
    dataset = read_dataset(path, DataOptions(roles={"note": "ignore"}))
    assert (dataset.feature_names, dataset.rows) == (["time", "size"], 60)
    assert dataset.columns[0].kind == "date"
