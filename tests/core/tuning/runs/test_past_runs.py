"""The list of runs: long results are read, and one odd folder is left out by its name."""

import json
import os
from dataclasses import replace

import numpy as np
import pytest

from core.tuning.event_lines import to_json
from core.tuning.events import RunFinished, RunStarted
from core.tuning.payloads import DatasetFacts
from core.tuning.plan import DataPlan, Plan
from core.tuning.run_results import ConfusionCounts, Gain, Results
from core.tuning.runs.past_runs import list_runs
from core.tuning.runs.run_folder import RunFolder

PLAN = Plan(DataPlan("sample:iris"), "svm", "gp")
STARTED = RunStarted(
    run="r", dataset=DatasetFacts(name="iris"), metric="accuracy", started_at="2026"
)
RESULTS = Results(metric="accuracy", test={"accuracy": 0.9}, gain=Gain(difference=0.02))
START, END = to_json(STARTED), to_json(RunFinished(results=RESULTS))
DEEP = "[" * 100_000 + "]" * 100_000


def folder_of(root, name, *lines):
    folder = RunFolder.create(PLAN, path=root / name).path
    (folder / "events.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return folder


@pytest.fixture
def root(tmp_path):
    folder_of(tmp_path, "sound", START, END)
    return tmp_path


def names_in(root):
    runs, left_out = list_runs(root)
    return {run.name: run.state for run in runs}, left_out


@pytest.mark.parametrize("classes", [230, 700])
def test_a_finished_run_of_many_classes_is_finished(root, classes):
    confusion = ConfusionCounts(tuned=np.arange(classes**2).reshape(classes, classes).tolist())
    line = to_json(RunFinished(results=replace(RESULTS, confusion=confusion)))
    assert len(line) > 256_000
    folder_of(root, "many", START, *["{}"] * 3, line)
    runs, left_out = list_runs(root)
    assert {(run.name, run.state, run.test) for run in runs} == {
        ("many", "finished", 0.9),
        ("sound", "finished", 0.9),
    }
    assert left_out == {}


def with_results(results):
    return [START, json.dumps({"event": "RunFinished", "results": results})]


ODD = {
    "deep first line": [DEEP, END],
    "no start": [END],
    "nonsense": ["nonsense", "nonsense"],
    "negative": with_results({"fits": -1}),
}
OF_OTHER_TYPES = {
    "list of results": with_results({"test": [], "gain": []}),
    "text as score": with_results({"test": {"accuracy": "0.9"}}),
    "no number": with_results({"trials": None}),
    "endless": [START, '{"event": "RunFinished", "results": {"trials": 1e999}}'],
    "huge": with_results({"trials": 10**400}),
    "odd interval": with_results({"test_interval": [0, "x"]}),
    "odd metric": with_results({"metric": ["accuracy"]}),
    "flag as score": with_results({"test": {"accuracy": True}}),
}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_run_is_left_out_by_its_name(root, name):
    folder_of(root, name, *ODD[name])
    runs, left_out = names_in(root)
    assert runs == {"sound": "finished"}
    assert list(left_out) == [name]
    assert name in left_out[name]


def test_a_last_line_that_cannot_be_read_is_that_of_an_interrupted_run(root):
    for name, lines in OF_OTHER_TYPES.items():
        folder_of(root, name, *lines)
    folder_of(root, "deep", START, DEEP)
    folder_of(root, "torn", START, END)
    with (root / "torn" / "events.jsonl").open("ab") as file:
        file.truncate(file.tell() - 5)
    assert names_in(root) == (
        dict.fromkeys((*OF_OTHER_TYPES, "deep", "torn"), "interrupted") | {"sound": "finished"},
        {},
    )


@pytest.mark.parametrize("plan", [b"", DEEP.encode(), b"\xff\x00", b"[]", b"3", b'{"data": 3}'])
def test_an_odd_plan_leaves_its_run_out(root, plan):
    folder = folder_of(root, "odd", START, END)
    (folder / "plan.json").write_bytes(plan)
    runs, left_out = names_in(root)
    assert (runs, list(left_out)) == ({"sound": "finished"}, ["odd"])


@pytest.mark.parametrize("field", [{"model": {}}, {"trials": "many"}, {"data": {"file": 3}}])
def test_a_field_of_another_type_leaves_its_run_out(root, field):
    folder = folder_of(root, "odd", START, END)
    (folder / "plan.json").write_text(json.dumps(PLAN.as_dict() | field))
    assert list(list_runs(root).left_out) == ["odd"]


@pytest.mark.parametrize("name", ["plan.json", "events.jsonl"])
@pytest.mark.parametrize("what", ["folder", "pipe", "loop"])
def test_what_is_no_file_leaves_its_run_out_at_once(root, name, what):
    """A pipe would be waited for for ever."""
    path = folder_of(root, "odd", START, END) / name
    path.unlink()
    {"folder": os.mkdir, "pipe": os.mkfifo, "loop": lambda loop: os.symlink(loop, loop)}[what](path)
    runs, left_out = names_in(root)
    assert (runs, list(left_out)) == ({"sound": "finished"}, ["odd"])


def test_a_folder_named_in_bytes_that_are_no_text_can_be_printed(root):
    os.rename(root / "sound", os.fsencode(root) + b"/r\xff\x1b[2J")
    (run,) = list_runs(root).runs
    assert run.name.isprintable()
    assert RunFolder.open(run.path).all_events()


def test_a_root_that_loops_is_an_empty_list(tmp_path):
    (tmp_path / "runs").symlink_to(tmp_path / "runs")
    assert list_runs(tmp_path / "runs") == ([], {})


def test_a_plan_of_a_newer_version_opens(root):
    folder = folder_of(root, "newer", START, END)
    (folder / "plan.json").write_text(json.dumps(PLAN.as_dict() | {"of_tomorrow": 1}))
    assert RunFolder(folder).plan == PLAN.changed(data=RunFolder(folder).plan.data)
    assert names_in(root)[0] == {"newer": "finished", "sound": "finished"}
