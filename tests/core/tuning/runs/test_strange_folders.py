"""Run folders of a stranger: every way to read one ends in a sentence, soon, and none is let in."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from app.cli import main
from core import writing
from core.tuning.runs import run_folder
from core.tuning.runs.run_folder import RunFolder

COMMANDS = {
    "replay": ["replay", "RUN"],
    "resume": ["resume", "RUN"],
    "report": ["report", "RUN", "--out", "OUT.html"],
    "export": ["export", "RUN", "OUT.skops"],
    "predict": ["predict", "RUN", "sample:clinic"],
    "runs": ["runs"],
}


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def huge(path: Path) -> None:
    # Takes no room on the disk.
    os.truncate(path, 1 << 40)


def itself(path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.fixture(scope="module")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("small") / "run"
    words = ["--model", "naive-bayes", "--strategy", "random", "--trials", "2"]
    before = os.umask(0)
    try:
        assert main(["tune", "sample:clinic", *words, "--run-dir", str(path)]) == 0
    finally:
        os.umask(before)
    return path


@pytest.fixture
def strange_run(small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "runs"
    shutil.copytree(small_run, root / "one")
    monkeypatch.setenv("TUNESCOPE_RUNS", str(root))
    return root / "one"


@pytest.mark.skipif(os.name == "nt", reason="no pipes among files there")
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("spoil", [pipe, endless, huge, itself, folder])
def test_what_is_no_ordinary_file_is_a_sentence(strange_run, tmp_path, capsys, spoil, command):
    for name in ("plan.json", "events.jsonl"):
        kept = (strange_run / name).read_bytes()
        spoil(strange_run / name)
        words = [word.replace("OUT", str(tmp_path / "out")) for word in COMMANDS[command]]
        status = main([word.replace("RUN", str(strange_run)) for word in words])
        told = capsys.readouterr()
        assert status == (0 if command == "runs" else 2), told
        assert name in told.out + told.err or "no run here" in told.err
        if (strange_run / name).is_dir() and not (strange_run / name).is_symlink():
            (strange_run / name).rmdir()
        else:
            (strange_run / name).unlink()
        (strange_run / name).write_bytes(kept)


@pytest.mark.skipif(os.name == "nt", reason="no file modes there")
def test_runs_and_the_history_are_their_owner_s_alone(strange_run, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("TUNESCOPE_HISTORY", str(tmp_path / "runs" / "history"))
    before = os.umask(0)
    try:
        for words in (["rename", "one", "new"], ["delete", "one"], ["restore", "one"]):
            assert main(["runs", *words]) == 0
        assert main(["resume", "one", "--trials", "1"]) == 0
        assert main(["runs", "delete", "one"]) == 0
        assert main(["history", "off"]) == 0
    finally:
        os.umask(before)
    paths = list((tmp_path / "runs").rglob("*"))
    assert {"bin", "history", "label.json", "best.skops"} <= {path.name for path in paths}
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in paths}
    assert {name: mode for name, mode in modes.items() if mode & 0o077} == {}


def test_a_line_without_an_end_is_a_sentence(strange_run, monkeypatch, capsys):
    monkeypatch.setattr(run_folder, "LONGEST", 1 << 17)
    with (strange_run / "events.jsonl").open("ab") as file:
        file.write(b"x" * (1 << 18))
    assert main(["replay", str(strange_run)]) == 2
    assert "never ends" in capsys.readouterr().err
    assert RunFolder.open(strange_run).plan


def test_a_link_that_leads_to_itself_is_no_bin(strange_run, capsys):
    (strange_run.parent / "bin").symlink_to("bin")
    assert main(["runs", "restore", "one"]) == 2
    assert "bin" in capsys.readouterr().err


def test_a_pipe_that_nobody_reads_is_not_waited_for(strange_run, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(writing, "READER_SECONDS", 0.2)
    os.mkfifo(tmp_path / "out.html")
    assert main(["report", str(strange_run), "--out", str(tmp_path / "out.html")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_a_history_without_an_ending_can_be_deleted(tmp_path, monkeypatch):
    monkeypatch.setenv("TUNESCOPE_HISTORY", str(tmp_path / "history"))
    assert main(["history", "off"]) == 0
    assert main(["history", "delete", "--all"]) == 0


@pytest.mark.skipif(os.name == "nt", reason="no file modes there")
def test_a_deleted_run_and_a_history_begun_anew_are_their_owner_s_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("TUNESCOPE_HISTORY", str(tmp_path / "history"))
    before = os.umask(0)
    try:
        (tmp_path / "history").write_bytes(b"damaged" * 1000)
        (tmp_path / "history").chmod(0o600)
        assert main(["history"]) == 0
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert {name: mode for name, mode in modes.items() if mode & 0o077} == {}


def test_a_link_that_leads_to_itself_keeps_no_history(tmp_path, monkeypatch):
    (tmp_path / "runs").symlink_to("runs")
    monkeypatch.setenv("TUNESCOPE_RUNS", str(tmp_path / "runs"))
    assert main(["history", "delete", "--all"]) == 0
