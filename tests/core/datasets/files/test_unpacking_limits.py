"""Packed files that hold more than their size allows: refused before their content is read."""

from __future__ import annotations

import bz2
import gzip
import lzma
import resource
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from core.datasets.files.unpacking_limits import ALWAYS_ALLOWED, MAX_EXPANSION, check_stream
from core.datasets.reading import read_dataset
from core.errors import UnusableError

MB = 2**20


def gzipped(path: Path, parts: int, part: bytes) -> None:
    with gzip.open(path, "wb", compresslevel=9) as file:
        for _ in range(parts):
            file.write(part)


def bzipped(path: Path, parts: int, part: bytes) -> None:
    with bz2.open(path, "wb") as file:
        for _ in range(parts):
            file.write(part)


def xzipped(path: Path, parts: int, part: bytes) -> None:
    with lzma.open(path, "wb", preset=0) as file:
        for _ in range(parts):
            file.write(part)


def zipped(path: Path, parts: int, part: bytes) -> None:
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("a.csv", "w") as file,
    ):
        for _ in range(parts):
            file.write(part)


Pack = Callable[[Path, int, bytes], None]
WAYS = [("gz", gzipped), ("bz2", bzipped), ("xz", xzipped), ("zip", zipped)]


@pytest.mark.parametrize(
    ("ending", "pack", "part"),
    [
        (*WAYS[0], b"0" * MB),
        (*WAYS[0], bytes(MB)),
        *((*way, b"0,0,0,0\n" * (MB // 8)) for way in WAYS),
    ],
)
def test_a_file_of_zeros_is_refused_at_once(
    tmp_path: Path, ending: str, pack: Pack, part: bytes
) -> None:
    path = tmp_path / f"zeros.csv.{ending}"
    pack(path, 17 if ending == "bz2" else 50, part)  # bz2 packs slowly
    assert path.stat().st_size < MB // 2
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    with pytest.raises(UnusableError, match=r"made to fill the memory.*unpack it yourself"):
        read_dataset(str(path))
    assert time.process_time() - began < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kilobytes


@pytest.mark.parametrize(("ending", "pack"), WAYS)
def test_a_table_that_packs_well_is_read(tmp_path: Path, ending: str, pack: Pack) -> None:
    """Ones and zeros: a tenth of a tenth of their size when packed."""
    random = np.random.default_rng(0)
    lines = [",".join(map(str, row)) for row in (random.random((3000, 40)) < 0.01).astype(int)]
    text = ",".join(f"c{i}" for i in range(40)) + "\n" + "\n".join(lines) + "\n"
    path = tmp_path / f"table.csv.{ending}"
    pack(path, 1, text.encode())
    assert read_dataset(str(path)).rows == 3000


def test_a_small_file_may_hold_its_sixteen_megabytes(tmp_path: Path) -> None:
    path = tmp_path / "table.csv.gz"
    gzipped(path, 15, b"\n" * 10 + bytes(MB - 10))
    assert MAX_EXPANSION * path.stat().st_size < ALWAYS_ALLOWED
    with gzip.open(path) as file:
        check_stream(file, path)


def test_a_zip_file_that_lies_about_its_size_gives_no_more(tmp_path: Path) -> None:
    path = tmp_path / "zeros.zip"
    zipped(path, 100, b"0,1\n" * (MB // 4))
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
