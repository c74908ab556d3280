"""The frozen program: what stays out of it, and packages that lie in archives."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from core.datasets.preparation import frequent_levels

ROOT = Path(__file__).parents[2]


def loaded(name):
    path = ROOT / "packaging" / "frozen" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"frozen_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


contents, start = loaded("contents"), loaded("start")


@pytest.fixture
def archives(tmp_path, monkeypatch):
    """A folder of archives with the package `parcel`, and a cache of the test's own."""
    source = tmp_path / "source" / "parcel"
    (source / "inner").mkdir(parents=True)
    (source / "tests").mkdir()
    (source / "__init__.py").write_text("from parcel.inner import VALUE\n")
    (source / "inner" / "__init__.py").write_text("VALUE = 42\n")
    (source / "tests" / "__init__.py").write_text("")
    folder = tmp_path / "archives"
    folder.mkdir()
    monkeypatch.setitem(contents.PACKED, "parcel", r"tests/")
    contents.pack("parcel", source, folder)
    monkeypatch.setattr(start, "ARCHIVES", folder)
    monkeypatch.setattr(start, "cache", lambda: tmp_path / "cache")
    finder = start.Archives()
    monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    yield folder
    for name in [name for name in sys.modules if name.startswith("parcel")]:
        del sys.modules[name]


def test_a_packed_package_is_the_same_bytes_every_time_and_has_no_tests(archives, tmp_path):
    (first,) = archives.glob("*.tar.xz")
    again = tmp_path / "again"
    again.mkdir()
    assert contents.pack("parcel", tmp_path / "source" / "parcel", again).name == first.name
    assert (again / first.name).read_bytes() == first.read_bytes()
    with tarfile.open(first) as archive:
        assert sorted(archive.getnames()) == ["parcel/__init__.py", "parcel/inner/__init__.py"]


def test_a_package_is_unpacked_by_its_first_import_alone(archives, tmp_path):
    assert importlib.util.find_spec("parcel") is not None
    assert not (tmp_path / "cache").exists()
    assert importlib.import_module("parcel").VALUE == 42
    (folder,) = (tmp_path / "cache" / "parts").iterdir()
    assert (folder / "parcel" / "inner" / "__init__.py").is_file()


@pytest.mark.parametrize("filtered", [True, False])
@pytest.mark.parametrize("kept", [True, False])
def test_a_package_is_unpacked_wherever_it_runs(archives, tmp_path, monkeypatch, kept, filtered):
    if not kept:
        (tmp_path / "cache").write_text("a file where the folder would be")
    if not filtered:  # as in 3.11.2
        usual = tarfile.TarFile.extractall
        monkeypatch.delattr(tarfile, "data_filter", raising=False)
        monkeypatch.setattr(tarfile.TarFile, "extractall", lambda self, path: usual(self, path))
    assert importlib.import_module("parcel").VALUE == 42


def test_an_older_version_is_removed_and_other_packages_stay(archives, tmp_path):
    parts = tmp_path / "cache" / "parts"
    for name in ("parcel-000000000000", "other-000000000000", "parcel-1.old", "parcel-1.new"):
        (parts / name).mkdir(parents=True)
    os.utime(parts / "parcel-1.old", (1, 1))  # broken off long ago; the other may go on
    importlib.import_module("parcel")
    left = {path.name for path in parts.iterdir()}
    assert {"other-000000000000", "parcel-1.new"} < left
    assert not {"parcel-000000000000", "parcel-1.old"} & left


def test_pandas_does_not_find_arrow_while_it_is_imported(archives, monkeypatch):
    (parcel,) = archives.glob("*.tar.xz")
    parcel.rename(archives / "pyarrow-000000000000.tar.xz")
    finder = start.Archives()
    pandas = importlib.import_module("pandas")
    assert finder.find_spec("pyarrow", None) is not None
    monkeypatch.setattr(pandas.__spec__, "_initializing", True, raising=False)
    assert finder.find_spec("pyarrow", None) is None


def test_what_stays_out():
    names = (
        *("PySide6/Qt/translations/qtbase_de.qm", "PySide6/Qt/plugins/platforms/libqvnc.so"),
        *("libX11.so.6", "libglib-2.0.so.0", "libstdc++.so.6", "sklearn/datasets/tests/data/x.gz"),
        "tunescope-0.1.0.dist-info/direct_url.json",
    )
    assert [name for name in names if not contents.is_left_out(name)] == []
    names = (
        *(
            f"PySide6/Qt/plugins/platforms/libq{name}.so"
            for name in ("xcb", "offscreen", "wayland")
        ),
        *("libxcb-cursor.so.0", "libpython3.11.so.1.0", "libcrypto.so.3"),
        *("tunescope-0.1.0.dist-info/METADATA", "resources/icons/tunescope.svg"),
    )
    assert [name for name in names if contents.is_left_out(name)] == []


@pytest.mark.skipif(sys.platform != "linux", reason="for Linux")
def test_the_tar_gz_is_installed_and_removed_without_a_trace(tmp_path):
    unpacked, home = tmp_path / "tunescope-1.0", tmp_path / "home"
    (unpacked / "share").mkdir(parents=True)
    home.mkdir()
    linux = ROOT / "packaging" / "linux"
    for name in ("install", "uninstall", "refresh"):
        (unpacked / name).write_bytes((linux / name).read_bytes())
        (unpacked / name).chmod(0o755)
    (unpacked / "tunescope").write_text('#!/bin/sh\necho "started $*"\n')
    (unpacked / "tunescope").chmod(0o755)
    for source in (
        ROOT / "packaging" / "tunescope.desktop",
        ROOT / "resources" / "icons" / "tunescope.svg",
        linux / "tunescope-mime.xml",
    ):
        (unpacked / "share" / source.name).write_bytes(source.read_bytes())
    (home / ".local" / "share" / "tunescope").mkdir(parents=True)
    (home / ".local" / "share" / "tunescope" / "run").write_text("mine")
    before = sorted(home.rglob("*"))
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin"}

    def run(*command):
        return subprocess.run(command, env=env, capture_output=True, text=True, check=False)

    first = run(unpacked / "install")
    assert first.returncode == 0, first.stderr
    assert run(unpacked / "install").returncode == 0  # again, over it
    command = home / ".local" / "bin" / "tunescope"
    assert run(command, "x").stdout == "started x\n"
    entry = (home / ".local/share/applications/tunescope.desktop").read_text()
    assert f"Exec={command} %f" in entry
    assert run(unpacked / "uninstall").returncode == 1
    removed = run(home / ".local/share/tunescope-program/uninstall")
    assert removed.returncode == 0, removed.stderr
    assert sorted(home.rglob("*")) == before


@pytest.mark.skipif(sys.platform != "linux", reason="for Linux")
def test_another_installation_is_not_overwritten(tmp_path):
    unpacked, home = tmp_path / "tunescope-1.0", tmp_path / "home"
    unpacked.mkdir()
    (home / ".local" / "bin").mkdir(parents=True)
    (home / ".local" / "bin" / "tunescope").write_text("pipx's")
    (unpacked / "install").write_bytes((ROOT / "packaging" / "linux" / "install").read_bytes())
    (unpacked / "tunescope").write_text("")
    (unpacked / "tunescope").chmod(0o755)
    done = subprocess.run(
        ["sh", unpacked / "install"],
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "belongs to another installation" in done.stderr
    assert (home / ".local" / "bin" / "tunescope").read_text() == "pipx's"


def test_what_exported_programs_hold_is_packed_as_source():
    spec = (ROOT / "packaging" / "tunescope.spec").read_text(encoding="utf-8")
    rooms = re.findall(r'"(\w+)"', spec.partition("for room in (")[2].partition(")")[0])
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "core/export").rglob("*.py")]
    modules = {name for text in texts for name in re.findall(r'"core\.([a-z_.]+)"', text)}
    modules.add(frequent_levels.__module__.removeprefix("core."))
    assert "datasets.cell_values" in modules
    assert {name.partition(".")[0] for name in modules} <= set(rooms)
