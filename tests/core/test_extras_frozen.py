"""How the frozen program is called."""

from __future__ import annotations

import shlex
import sys

from core.extras import other_program, own_command


def test_a_link_to_the_frozen_program_is_itself(tmp_path, monkeypatch):
    program, linked = tmp_path / "lib folder" / "tunescope", tmp_path / "bin" / "tunescope"
    for folder in (program.parent, linked.parent):
        folder.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.setenv("PATH", str(linked.parent))
    assert own_command() == shlex.quote(str(program))
    linked.symlink_to(program)
    assert own_command() == "tunescope"
    assert other_program() == ""
    linked.unlink()
    linked.write_text("#!/bin/sh\n")
    linked.chmod(0o755)
    assert own_command() == shlex.quote(str(program))
    assert other_program() == str(linked)
