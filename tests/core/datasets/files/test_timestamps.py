"""Tables with times in them, as databases, spreadsheets and loggers export them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest

from core.datasets.dataset import Dataset
from core.datasets.files.libsvm import looks_like_libsvm
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.export.bundle.column_preparation import prepare_columns

TIMES = [
    datetime(2024, 3, 5, 18, 54, 2, 123456) + timedelta(hours=7 * i, minutes=11 * i, seconds=13 * i)
    for i in range(60)
]


def _strftime(form: str) -> Callable[[datetime], str]:
    return lambda time: time.strftime(form)


def _us(time: datetime, year: str = "%y", seconds: str = "") -> str:
    hour = time.hour % 12 or 12
    clock = (
        f"{hour}:{time:%M}{seconds and time.strftime(seconds)} {'PM' if time.hour > 11 else 'AM'}"
    )
    return f"{time.month}/{time.day}/{time.strftime(year)} {clock}"


# {what wrote it: (how it writes a time, the kind of the column)}
WRITTEN: dict[str, tuple[Callable[[datetime], str], str]] = {
    "minutes": (_strftime("%Y-%m-%d %H:%M"), "date"),
    "clock": (_strftime("%H:%M:%S"), "date"),
    "clock without seconds": (_strftime("%H:%M"), "date"),
    "postgresql timestamptz": (_strftime("%Y-%m-%d %H:%M:%S.%f+01"), "date"),
    "postgresql timestamp": (_strftime("%Y-%m-%d %H:%M:%S.%f"), "date"),
    "mysql datetime, sqlite": (_strftime("%Y-%m-%d %H:%M:%S"), "date"),
    "mysql datetime(3)": (lambda time: time.isoformat(" ", "milliseconds"), "date"),
    "sqlite julian day": (lambda time: f"{2460000 + time.timestamp() // 86400:.0f}", "number"),
    "sqlite iso": (_strftime("%Y-%m-%dT%H:%M:%SZ"), "date"),
    "excel german": (_strftime("%d.%m.%Y %H:%M"), "date"),
    "excel german seconds": (_strftime("%d.%m.%Y %H:%M:%S"), "date"),
    "excel german short": (_strftime("%d.%m.%y %H:%M"), "date"),
    "excel us": (_us, "date"),
    "excel us with seconds": (lambda time: _us(time, "%Y", ":%S"), "date"),
    "excel us 24 hours": (lambda time: f"{time.month}/{time.day}/{time:%Y %H:%M}", "date"),
    "excel british": (_strftime("%d/%m/%Y %H:%M"), "date"),
    "excel french seconds": (_strftime("%d/%m/%Y %H:%M:%S"), "date"),
    "excel swiss two digits": (_strftime("%d/%m/%y %H:%M"), "date"),
    "excel japanese": (lambda time: f"{time.year}/{time.month}/{time.day} {time:%H:%M}", "date"),
    "excel dutch": (_strftime("%d-%m-%Y %H:%M"), "date"),
    "libreoffice iso": (_strftime("%Y-%m-%d %H:%M:%S"), "date"),
    "logger": (lambda time: time.isoformat("T", "milliseconds") + "Z", "date"),
    "python logging": (
        lambda time: f"{time:%Y-%m-%d %H:%M:%S}.{time.microsecond // 1000:03d}",
        "date",
    ),
    "python logging, comma": (
        lambda time: f'"{time:%Y-%m-%d %H:%M:%S},{time.microsecond // 1000:03d}"',
        "date",
    ),
    "syslog": (lambda time: f"{time:%b} {time.day:2d} {time:%H:%M:%S}", "date"),
    "syslog rfc 5424": (lambda time: time.isoformat() + "+00:00", "date"),
    "apache": (_strftime("%d/%b/%Y:%H:%M:%S +0100"), "date"),
    "nginx error": (_strftime("%Y/%m/%d %H:%M:%S"), "date"),
    "iso zone": (_strftime("%Y-%m-%dT%H:%M:%S+05:30"), "date"),
    "iso zone without colon": (_strftime("%Y-%m-%dT%H:%M:%S+0530"), "date"),
    "sql server": (lambda time: time.isoformat(" ") + "0 +01:00", "date"),
    "journald short-full": (_strftime("%a %Y-%m-%d %H:%M:%S UTC"), "date"),
    "journald short-iso": (_strftime("%Y-%m-%dT%H:%M:%S+0100"), "date"),
    "journald microseconds": (lambda time: str(int(time.timestamp() * 10**6)), "number"),
    "unix seconds": (lambda time: str(int(time.timestamp())), "number"),
    "influxdb nanoseconds": (lambda time: str(int(time.timestamp() * 10**6) * 1000), "number"),
    "influxdb rfc 3339": (lambda time: time.isoformat() + "789Z", "date"),
    "unix date": (_strftime("%a %b %d %H:%M:%S %Y"), "date"),
    "mail": (_strftime("%a, %d %b %Y %H:%M:%S +0000"), "date"),
    "oracle": (_strftime("%d-%b-%y %I.%M.%S.%f %p"), "date"),
}


def written(
    path: Path, name: str, delimiter: str = ",", decimal: str = ".", end: str = "\n", place: int = 0
) -> Path:
    """A table with a column of times at a place, three numbers and a class."""
    lines = [["size", "weight", "kind"]]
    lines[0].insert(place, "time")
    for i, time in enumerate(TIMES):
        row = [f"{i * 0.116 + 0.5:.3f}".replace(".", decimal), str(i % 7), "ab"[i % 2]]
        cell = WRITTEN[name][0](time)
        row.insert(place, f'"{cell}"' if delimiter in cell and cell[0] != '"' else cell)
        lines.append(row)
    path.write_bytes("".join(delimiter.join(row) + end for row in lines).encode())
    return path


def opens(path: Path, name: str, place: int = 0) -> Dataset:
    dataset = read_dataset(str(path))
    assert dataset.source.format == "csv"
    names = ["size", "weight", "kind"]
    names.insert(place, "time")
    assert [column.name for column in dataset.columns] == names
    kinds = {column.name: column.kind for column in dataset.columns}
    assert kinds == {
        "time": WRITTEN[name][1],
        "size": "number",
        "weight": "number",
        "kind": "category",
    }
    assert (dataset.rows, dataset.classes) == (60, ("a", "b"))
    assert dataset.table["size"].tolist() == [round(i * 0.116 + 0.5, 3) for i in range(60)]
    return dataset


TABLES = [(",", ".", "\r\n", 2), (";", ",", "\r\n", 0), ("\t", ".", "\n", 0), (",", ".", "\n", 0)]


@pytest.mark.parametrize(("number", "name"), enumerate(WRITTEN))
def test_times_open_in_every_way_of_writing(tmp_path: Path, number: int, name: str) -> None:
    delimiter, decimal, end, place = TABLES[number % len(TABLES)]
    path = written(tmp_path / "log.csv", name, delimiter, decimal, end, place)
    dataset = opens(path, name, place)
    column = dataset.columns[place]
    if column.kind != "date":
        return
    # What pandas reads by the format is what was written, up to what the writing leaves out.
    read = pd.to_datetime(dataset.table["time"], format=column.date_format, utc=True)
    assert read.notna().all()
    assert read.nunique() == len({WRITTEN[name][0](time) for time in TIMES})
    # What is taken away reads them alike, without pandas.
    part = {"column": "time", "kind": "date", "format": column.date_format}
    part |= {"fill": 0.0, "mean": 0.0, "scale": 1.0}
    how = {"quote": '"', "padded": False, "decimal": decimal, "thousands": "", "missing": [""]}
    alike = prepare_columns({"parts": [part], "reading": how}, path.read_text())[:, 0]
    assert (
        alike.tolist() == read.dt.floor("s").astype("datetime64[s, UTC]").astype("int64").tolist()
    )
    if WRITTEN[name][0](TIMES[0]).count("2024") or "/24" in WRITTEN[name][0](TIMES[0]):
        days = abs(read - pd.Series([time.replace(tzinfo=UTC) for time in TIMES]))
        assert days.max() < timedelta(hours=6)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_time_alone_beside_the_target_is_no_libsvm(tmp_path: Path, name: str) -> None:
    path = tmp_path / "two.csv"
    for delimiter in (",", "\t"):
        cells = [WRITTEN[name][0](time) for time in TIMES]
        quoted = [f'"{c}"' if delimiter in c and c[0] != '"' else c for c in cells]
        rows = [f"{cell}{delimiter}{i % 3}" for i, cell in enumerate(quoted)]
        for header in (["time" + delimiter + "class"], []):
            text = "\n".join([*header, *rows]) + "\n"
            assert not looks_like_libsvm(text)
            path.write_text(text)
            dataset = read_dataset(str(path), DataOptions(task="multiclass"))
            assert dataset.feature_names == (["time"] if header else ["column 1"])


def test_influxdb_annotated_csv(tmp_path: Path) -> None:
    """The three annotations above the header and the empty column in front are InfluxDB 2's own."""
    lines = [
        "#group,false,false,true,true,false,false,true,true",
        "#datatype,string,long,dateTime:RFC3339,dateTime:RFC3339,dateTime:RFC3339,double,string,"
        "string",
        "#default,mean,,,,,,,",
        ",result,table,_start,_stop,_time,_value,_field,state",
    ]
    for i, time in enumerate(TIMES):
        stamp = time.isoformat() + "Z"
        lines.append(
            f",,0,2024-03-05T00:00:00Z,2024-04-05T00:00:00Z,{stamp},{i * 0.5},load,{'ab'[i % 2]}"
        )
    path = tmp_path / "influx.csv"
    path.write_text("\r\n".join(lines) + "\r\n")
    dataset = read_dataset(str(path))
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


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("name", ["minutes", "excel us", "syslog", "clock"])
def test_marks_mixed_line_ends_and_long_cells(tmp_path: Path, mark: str, name: str) -> None:
    ends = ["\n", "\r\n"]
    lines = ["time,note,size,kind"]
    for i, time in enumerate(TIMES):
        note = "18:54,0.116 " * 90_000 if i == 5 else f"at 18:{i:02d}, again"
        lines.append(f'{WRITTEN[name][0](time)},"{note}",{i},{"ab"[i % 2]}')
    text = mark + "".join(line + ends[i % 2] for i, line in enumerate(lines))
    path = tmp_path / "log.csv"
    path.write_bytes(text.encode())
    dataset = read_dataset(str(path), DataOptions(roles={"note": "ignore"}))
    assert dataset.feature_names == ["time", "size"]
    assert dataset.columns[0].kind == "date"
    path.write_bytes(text.encode("utf-16"))
    assert read_dataset(str(path), DataOptions(roles={"note": "ignore"})).rows == 60
