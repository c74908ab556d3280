"""Files that are damaged, or made to do harm."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import importlib.util
import lzma
import os
import resource
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from core.datasets.files.file_bytes import ALWAYS_ALLOWED, MAX_EXPANSION, check_stream, unchanged
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.errors import UnusableError


def _fuzzing() -> ModuleType:
    path = Path(__file__).parents[3] / "benchmarks" / "fuzz_readers.py"
    spec = importlib.util.spec_from_file_location("fuzz_readers", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look for it
    spec.loader.exec_module(module)
    return module


FUZZING = _fuzzing()


@pytest.mark.parametrize("reader", FUZZING.READERS, ids=lambda reader: reader.name)
def test_damaged_files_end_in_a_sentence_or_a_dataset(reader: object) -> None:
    found = FUZZING.attack(reader, 40, seed=7)
    assert found.findings == {}
    assert found.refused < found.inputs == 40  # some open, and are looked at


def test_what_no_reader_may_do_is_found(tmp_path: Path) -> None:
    def reads(path: Path) -> object:
        return int(path.read_bytes()[:1] or b"x")

    found = FUZZING.attack(FUZZING.Reader("bad", ".x", (b"5 6 7",), reads), 40, seed=1)
    assert any(kind.startswith("ValueError") for kind in found.findings)


MAX_SECONDS = 30  # of a processor that others use too; in linear time it is one or two


def seconds(read: Callable[[], object]) -> float:
    start = time.process_time()
    read()
    return time.process_time() - start


def test_columns_in_their_thousands(tmp_path: Path) -> None:
    numbers = np.random.default_rng(0).integers(0, 10, (20, 20_001))
    path = tmp_path / "wide.csv"
    pd.DataFrame(numbers).add_prefix("c").to_csv(path, index=False)
    assert seconds(lambda: read_dataset(str(path), DataOptions(target="c0"))) < MAX_SECONDS


@pytest.mark.parametrize(
    "text",
    ['a,b\n1,"{}",2\n', 'a,b\n"{}', 'a,b\n1,2\n3,"{}"\n'],
    ids=["in a row too many", "open", "in a cell"],
)
def test_millions_of_quotes(tmp_path: Path, text: str) -> None:
    path = tmp_path / "quotes.csv"
    path.write_text(text.format('""' * 400_000))

    def read() -> None:
        with contextlib.suppress(UnusableError):
            read_dataset(str(path))

    assert seconds(read) < MAX_SECONDS


def test_empty_cells_alone(tmp_path: Path) -> None:
    path = tmp_path / "empty.csv"
    path.write_text("a,b,c\n" + ",,\n" * 300_000)
    with pytest.raises(UnusableError, match="every cell below the header is empty"):
        read_dataset(str(path))


def test_blank_lines_under_the_header(tmp_path: Path) -> None:
    path = tmp_path / "blank.csv"
    rows = "".join(f"{i * 7 % 5},{i * i % 11},{i % 2}\n" for i in range(60))
    path.write_text("a,b,y\n" + "\n" * 1000 + rows)
    dataset = read_dataset(str(path))
    assert (dataset.rows, dataset.feature_names) == (60, ["a", "b"])


def test_a_file_that_changes_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "growing.csv"
    path.write_text("a,y\n1,0\n")
    with unchanged(path):
        path.read_text()
    with pytest.raises(UnusableError, match="the file changed while it was read"), unchanged(path):
        path.write_text("a,y\n1,0\n2,1\n")
    with pytest.raises(UnusableError, match="the file is gone"), unchanged(path):
        os.remove(path)


@pytest.mark.parametrize("cells", ['"None"\r\n"#DIV/0!"', "x\n1\n2"])
def test_an_empty_cell_above_the_only_column_is_a_blank_line(tmp_path, cells):
    path = tmp_path / "one.csv"
    path.write_text(f'\ufeff""\r\n{cells}\r\n', encoding="utf-8")
    with pytest.raises(UnusableError, match=r"only one column|every cell below the header"):
        read_dataset(str(path))


MB = 2**20


OPENERS = {"gz": gzip.open, "bz2": bz2.open, "xz": lzma.open}


def pack(path: Path, parts: int, part: bytes) -> None:
    """Pack so many equal parts, by the file's ending."""
    with contextlib.ExitStack() as files:
        if path.suffix == ".zip":
            archive = files.enter_context(zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED))
            file = files.enter_context(archive.open("a.csv", "w"))
        else:
            file = files.enter_context(OPENERS[path.suffix[1:]](path, "wb"))
        for _ in range(parts):
            file.write(part)


@pytest.mark.parametrize(
    ("ending", "part"),
    [
        ("gz", b"0" * MB),
        ("gz", bytes(MB)),
        *((ending, b"0,0,0,0\n" * (MB // 8)) for ending in (*OPENERS, "zip")),
    ],
)
def test_a_file_of_zeros_is_refused_at_once(tmp_path: Path, ending: str, part: bytes) -> None:
    path = tmp_path / f"zeros.csv.{ending}"
    pack(path, 17 if ending == "bz2" else 50, part)  # bz2 packs slowly
    assert path.stat().st_size < MB // 2
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    with pytest.raises(UnusableError, match=r"made to fill the memory.*unpack it yourself"):
        read_dataset(str(path))
    assert time.process_time() - began < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kilobytes


@pytest.mark.parametrize("ending", [*OPENERS, "zip"])
def test_a_table_that_packs_well_is_read(tmp_path: Path, ending: str) -> None:
    """Ones and zeros: a tenth of a tenth of their size when packed."""
    random = np.random.default_rng(0)
    lines = [",".join(map(str, row)) for row in (random.random((3000, 40)) < 0.01).astype(int)]
    text = ",".join(f"c{i}" for i in range(40)) + "\n" + "\n".join(lines) + "\n"
    path = tmp_path / f"table.csv.{ending}"
    pack(path, 1, text.encode())
    assert read_dataset(str(path)).rows == 3000


def test_a_small_file_may_hold_its_sixteen_megabytes(tmp_path: Path) -> None:
    path = tmp_path / "table.csv.gz"
    pack(path, 15, b"\n" * 10 + bytes(MB - 10))
    assert MAX_EXPANSION * path.stat().st_size < ALWAYS_ALLOWED
    with gzip.open(path) as file:
        check_stream(file, path)


def test_a_zip_file_that_lies_about_its_size_gives_no_more(tmp_path: Path) -> None:
    path = tmp_path / "zeros.zip"
    pack(path, 100, b"0,1\n" * (MB // 4))
    data = bytearray(path.read_bytes())
    for place in (data.find(b"PK\x01\x02") + 24, data.find(b"PK\x03\x04") + 22):
        data[place : place + 4] = (1000).to_bytes(4, "little")
    path.write_bytes(bytes(data))
    with pytest.raises(UnusableError):
        read_dataset(str(path))


MEMORY = """
import resource, sys, time
from core.errors import UnusableError
from core.export.prediction import predict_file
began, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    predict_file(sys.argv[1], sys.argv[2])
except UnusableError as refused:
    print(refused.sentence)
used = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
print(round(time.process_time() - began, 2), used)
"""


@pytest.mark.parametrize("ending", ["skops", "npz", "zip"])
def test_a_model_of_zeros_is_refused_at_once(tmp_path: Path, ending: str) -> None:
    """350 kB of zeros must not take a gigabyte."""
    path = tmp_path / f"model.{ending}"
    name = {"skops": "schema.json", "npz": "weights.npy", "zip": "model/model.npz"}[ending]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, bytes(350 * MB))
    assert path.stat().st_size < 400_000
    (tmp_path / "new.csv").write_text("a,b\n1,2\n")
    command = [sys.executable, "-c", MEMORY, str(path), str(tmp_path / "new.csv")]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    sentence, figures = ran.stdout.splitlines()
    seconds, megabytes = map(float, figures.split())
    assert "unpacked, this file takes 367 MB" in sentence or ending == "npz"
    assert seconds < 5
    assert megabytes < 200  # of libraries, mostly
