"""The two walks of CONTRIBUTING.md lead through places that exist, in their order."""

import re
import sys
from pathlib import Path

import pytest

from app.__main__ import main

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
OTHER_PROCESSES = {"score_trial"}  # of the trials; and what waits for a call there
PLACE = re.compile(r"`([a-z_/]+\.py): (\w+)`")


def places(heading):
    section = TEXT.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return PLACE.findall(section)


@pytest.mark.parametrize("heading", ["A file becomes a model", "An event becomes a pixel"])
def test_every_place_of_a_walk_exists(heading):
    assert len(places(heading)) >= 7
    for path, name in places(heading):
        text = (ROOT / path).read_text(encoding="utf-8")
        assert re.search(rf"^(class|def) {name}\b", text, flags=re.MULTILINE), f"{path}: {name}"


def test_a_file_becomes_a_model_on_the_way_that_is_told(tmp_path, capsys):
    calls: dict[tuple[str, str], int] = {}

    def note(frame, event, _argument):
        if event == "call":
            code = frame.f_code
            calls.setdefault((code.co_filename, code.co_qualname.split(".")[0]), len(calls))

    command = ["tune", "sample:iris", "--model", "knn", "--strategy", "random", "--trials", "2"]
    run = tmp_path / "run"
    sys.setprofile(note)
    try:
        status = main([*command, "--run", str(run), "--export", str(tmp_path / "m.json")])
    finally:
        sys.setprofile(None)
    assert status == 0, capsys.readouterr().err
    way = [place for place in places("A file becomes a model") if place[1] not in OTHER_PROCESSES]
    order = [calls[str(ROOT / path), name] for path, name in way]
    assert order == sorted(order)
