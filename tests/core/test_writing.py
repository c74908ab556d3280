"""Files written whole: drafts nobody else has, links followed, nothing lost by a failure."""

import os
import signal
import stat
import threading

import pytest

from core.writing import DRAFT, whole_file, write_whole


def test_a_persons_own_drafts_stay(tmp_path):
    for name in ("plan.json.part", ".plan.json.part", "plan.json~"):
        (tmp_path / name).write_text("mine")
    write_whole(tmp_path / "plan.json", "new")
    with pytest.raises(TypeError), whole_file(tmp_path / "plan.json") as draft:
        draft.write_text(b"half")
    assert (tmp_path / "plan.json").read_text() == "new"
    names = {"plan.json", "plan.json.part", ".plan.json.part", "plan.json~"}
    assert {path.name for path in tmp_path.iterdir()} == names
    assert {(tmp_path / name).read_text() for name in names - {"plan.json"}} == {"mine"}


@pytest.mark.parametrize("there", [True, False])
def test_a_link_is_followed(tmp_path, there):
    (tmp_path / "far").mkdir()
    file, link = tmp_path / "far" / "file.json", tmp_path / "link.json"
    if there:
        file.write_text("old")
        file.chmod(0o640)
    link.symlink_to(file)
    write_whole(link, "new")
    assert link.is_symlink()
    assert file.read_text() == "new"
    assert not there or stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [path.name for path in file.parent.iterdir()] == ["file.json"]


def test_a_link_to_itself_is_an_error_and_stays(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(OSError, match="symbolic link"):
        write_whole(tmp_path / "loop", "new")
    assert (tmp_path / "loop").is_symlink()


def test_a_pipe_stays_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    said = []
    # It may come later than the writer.
    reader = threading.Timer(0.1, lambda: said.append((tmp_path / "pipe").read_text()))
    reader.start()
    write_whole(tmp_path / "pipe", "through")
    reader.join(5)
    assert said == ["through"]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_the_content_is_on_the_disk_before_its_name_and_the_name_before_the_return(
    tmp_path, monkeypatch
):
    done = []
    sync, replace = os.fsync, os.replace

    def synced(handle):
        done.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        sync(handle)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", lambda *ends: (done.append("name"), replace(*ends)))
    write_whole(tmp_path / "plan.json", "{}")
    assert done == ["file", "name", "folder"]


def test_the_draft_of_a_killed_program_goes_with_the_next_file_and_no_other_does(tmp_path):
    def killed_in_draft(drafts):
        if not (child := os.fork()):
            with whole_file(tmp_path / "model.json") as draft:
                draft.write_text("half")
                os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(child, 0)
        (leftover,) = set(tmp_path.glob(f"{DRAFT}*")) - drafts
        return leftover

    own = {tmp_path / f"{DRAFT}notes", tmp_path / f"{DRAFT}0123"}
    for folder in own:
        folder.mkdir()
    with whole_file(tmp_path / "other.json") as draft:
        draft.write_text("whole")
        leftover = killed_in_draft({*own, draft.parent})
        assert [path.name for path in leftover.iterdir()] == ["model.json"]
        write_whole(tmp_path / "third.json", "")
        assert set(tmp_path.glob(f"{DRAFT}*")) == {*own, draft.parent}
    assert (tmp_path / "other.json").read_text() == "whole"
    assert not (tmp_path / "model.json").exists()
