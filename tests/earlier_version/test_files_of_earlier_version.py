"""Files that an earlier version made: they open, go on, predict and tell what they told then.

In `files/` are its small data, its runs (zipped, with their bin), exported models, what they
predicted, files of events, its history, and in `expected/` what it told of these runs. It had them
all in the folder /earlier, with which their paths begin. These files stay as they are; what is told
in words may change, and `expected/` with it.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest

import tunescope
from app.cli import main
from core.records import to_plain
from core.tuning.event_lines import from_json, to_json
from core.tuning.events import DatasetFacts, RunFinished, RunStarted, RunStopped
from core.tuning.run_results import Results
from core.tuning.runs.state import state_from_events

FILES = Path(__file__).parent / "files"
EARLIER = "/earlier"
UNFINISHED = {"interrupted": 8, "stopped": 9}  # {run: the trials of its plan}
ENDINGS = {  # of the models of these data; of all others .skops
    **dict.fromkeys(("tags.csv", "molecules.csv"), ".npz"),
    **dict.fromkeys(("texts.csv", "counts.libsvm", "pictures.csv"), ".zip"),
}
TOLD = {
    "result.json": ("resume", "RUN", "--json"),
    "choices.json": ("export", "RUN", "--json"),
    "replay.txt": ("replay", "RUN"),
    "numbers.json": ("export", "RUN", "FILE"),
    "script.txt": ("export", "RUN", "--format", "script", "--out", "FILE"),
    "report.html": ("report", "RUN", "--out", "FILE"),
}
with zipfile.ZipFile(FILES / "runs.zip") as _archive:
    RUNS = sorted({name.split("/")[1] for name in _archive.namelist()} - {"bin"})


def names(folder: str) -> list[str]:
    """The files below a folder of the earlier version, as pytest is to name them."""
    paths = (FILES / folder).rglob("*")
    return sorted(path.relative_to(FILES / folder).as_posix() for path in paths if path.is_file())


def unpacked(place: Path) -> Path:
    """Data, runs and history, as if the earlier version had had them in this place."""
    shutil.copytree(FILES / "data", place / "data")
    shutil.copy(FILES / "history.sqlite3", place)
    with zipfile.ZipFile(FILES / "runs.zip") as archive:
        archive.extractall(place)
    for path in (place / "runs").rglob("*"):
        if path.name in ("plan.json", "events.jsonl"):
            content = path.read_bytes().replace(EARLIER.encode(), place.as_posix().encode())
            path.write_bytes(content)
    return place


@pytest.fixture(scope="module")
def all_files(tmp_path_factory):
    return unpacked(tmp_path_factory.mktemp("read") / "earlier")


@pytest.fixture
def home(all_files, monkeypatch):
    """Where the files are that are only read."""
    return at_home(all_files, monkeypatch)


@pytest.fixture
def own_home(tmp_path, monkeypatch):
    """Files of the test's own, which it may change."""
    return at_home(unpacked(tmp_path / "earlier"), monkeypatch)


def at_home(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TUNESCOPE_RUNS", str(place / "runs"))
    monkeypatch.setenv("TUNESCOPE_HISTORY", str(place / "history.sqlite3"))
    return place


@pytest.fixture
def said(capsys):
    """Runs a command; what it printed, with the paths of the earlier version."""
    before = signal.getsignal(signal.SIGTERM)

    def say(*words: str | Path) -> str:
        place = Path(os.environ["TUNESCOPE_RUNS"]).parent.as_posix()
        capsys.readouterr()
        assert main([str(word) for word in words]) == 0
        return capsys.readouterr().out.replace(place, EARLIER)

    yield say
    signal.signal(signal.SIGTERM, before)


def data_of(home: Path, run: str) -> Path:
    """The file that a run was tuned on."""
    plan = json.loads((home / "runs" / run / "plan.json").read_text(encoding="utf-8"))
    return Path(plan["data"]["file"])


def assert_predicts_as_then(said, home: Path, run: str, *model: str | Path) -> None:
    """What a model of a run says of new rows is what the earlier version said."""
    data = data_of(home, run)
    told = said("predict", *model, data.with_name(f"{data.stem}-new{data.suffix}"), "--only")
    now, then = pd.read_csv(io.StringIO(told)), pd.read_csv(FILES / "predictions" / f"{run}.csv")
    pd.testing.assert_frame_equal(now, then, rtol=1e-9, atol=1e-9)


def listed(name: str) -> list[dict]:
    """A list that the earlier version printed as JSON."""
    return json.loads((FILES / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("run", RUNS)
def test_every_event_is_known_and_comes_back_as_it_was(said, home, run):
    written = (home / "runs" / run / "events.jsonl").read_text(encoding="utf-8")
    assert said("replay", run, "--json") == written.replace(home.as_posix(), EARLIER)


@pytest.mark.parametrize("run", RUNS)
def test_the_events_add_up(home, run):
    opened = tunescope.open_run(home / "runs" / run)
    state = state_from_events(opened.events)
    lines = (home / "runs" / run / "events.jsonl").read_text(encoding="utf-8").splitlines()
    kinds = [json.loads(line)["event"] for line in lines]
    ends = ("TrialFinished", "TrialFailed", "PenaltyStep", "HyperGradientStep")
    assert state.done_count == sum(kinds.count(kind) for kind in ends) > 0
    assert state.started.plan["model"] == opened.plan.model
    assert len(opened.steps if state.learns_penalties else opened.trials) == state.done_count
    assert to_plain(state.results) == json.loads(lines[-1]).get("results")
    assert (state.results is None) == (run == "interrupted")


def test_a_line_of_every_kind_of_event_is_read():
    lines = (FILES / "every-event.jsonl").read_text(encoding="utf-8").splitlines()
    events = [from_json(line) for line in lines]
    ends = [event for event in events if isinstance(event, RunFinished | RunStopped)]
    assert [end.results for end in ends] == [Results()] * 2  # {} there, which no run wrote
    (start,) = (event for event in events if isinstance(event, RunStarted))
    assert start.dataset == DatasetFacts()  # {} there, too
    others = [line for line in lines if '"results"' not in line and '"dataset"' not in line]
    assert [to_json(event) for event in events if event not in [*ends, start]] == others


@pytest.mark.parametrize("name", names("events"))
def test_files_of_events_are_read(home, name):
    lines = (FILES / "events" / name).read_text(encoding="utf-8").splitlines()
    events = [from_json(line) for line in lines]
    assert [to_json(event) for event in events] == lines
    kept = state_from_events(tunescope.open_run(home / "runs" / Path(name).stem).events)
    copied = state_from_events(events)
    assert (copied.done_count, copied.results) == (kept.done_count, kept.results)


@pytest.mark.parametrize("name", names("expected"))
def test_what_is_told_of_a_run_is_the_same(said, home, tmp_path, name):
    run, kind = name.split("/")
    words = {"RUN": run, "FILE": str(tmp_path / kind)}
    told = said(*(words.get(word, word) for word in TOLD[kind]))
    told = (tmp_path / kind).read_text(encoding="utf-8") if "FILE" in TOLD[kind] else told
    assert told == (FILES / "expected" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", names("predictions"))
def test_the_kept_model_of_a_run_is_exported_and_predicts_as_then(said, home, tmp_path, name):
    run = Path(name).stem
    model = tmp_path / f"model{ENDINGS.get(data_of(home, run).name, '.skops')}"
    said("export", run, model)
    assert_predicts_as_then(said, home, run, model)


@pytest.mark.parametrize("name", names("models"))
def test_exported_models_predict_as_then(said, home, name):
    trust = ["--trust"] if name.endswith(".joblib") else []
    assert_predicts_as_then(said, home, Path(name).stem, *trust, FILES / "models" / name)


@pytest.mark.slow
@pytest.mark.parametrize("run", [*UNFINISHED, "gp-svm", "race-auto", "eb-hyp-knn", "lda"])
def test_a_run_goes_on_from_where_it_was(said, own_home, run):
    events = own_home / "runs" / run / "events.jsonl"
    before = events.read_bytes()
    n_trials = len(tunescope.open_run(own_home / "runs" / run).trials) + 1
    n_trials, more = (UNFINISHED[run], []) if run in UNFINISHED else (n_trials, ["--trials", "1"])
    result = json.loads(said("resume", run, *more, "--json").splitlines()[-1])
    assert result["trials"] == n_trials
    trials = tunescope.open_run(own_home / "runs" / run).trials
    assert sorted(trials["number"]) == list(range(n_trials))
    if run in UNFINISHED:
        assert result["test"]["accuracy"] > 0
        assert events.read_bytes().startswith(before)


def test_another_model_is_taken_away_from_a_run(said, own_home, tmp_path):
    picked = said("pick", "race-auto", "simplest", "--json")
    assert json.loads(picked.splitlines()[-1])["run"] == "race-auto"
    said("export", "forest", tmp_path / "default.skops", "--which", "default")
    told = said("predict", tmp_path / "default.skops", own_home / "data" / "patients-new.csv")
    assert len(told.splitlines()) == 13


def test_the_runs_are_listed_with_their_names_and_notes(said, home):
    earlier = json.loads((FILES / "runs.json").read_text(encoding="utf-8"))
    rows = json.loads(said("runs", "--json"))
    kept = [{key: row[key] for key in before} for row, before in zip(rows, earlier, strict=True)]
    assert kept == earlier
    assert "Iron and salt" in said("runs")
    assert said("runs", "note", "gp-svm") == "The first try.\nMistakes have costs.\n"


def test_a_deleted_run_comes_back_from_the_bin(said, own_home):
    mark = own_home / "runs" / "bin" / "thrown" / "deleted.json"
    (key,) = json.loads(mark.read_text(encoding="utf-8"))
    # Otherwise its time in the bin is over.
    mark.write_text(json.dumps({key: datetime.now(UTC).isoformat()}), encoding="utf-8")
    (binned,) = json.loads(said("runs", "bin", "--json"))
    assert (binned["name"], binned["model"]) == ("thrown", "knn")
    said("runs", "restore", "thrown")
    assert "Trial 0: accuracy" in said("replay", "thrown")


def test_answers_that_were_kept_are_not_worked_out_again(said, own_home, tmp_path):
    answers = list((own_home / "runs" / "gp-svm" / "answers").iterdir())
    before = [path.stat().st_mtime_ns for path in answers]
    said("report", "gp-svm", "--out", tmp_path / "report.html")
    assert [path.stat().st_mtime_ns for path in answers] == before
    assert {path.stem for path in answers} == {"importance", "rows"}


@pytest.mark.parametrize("run", sorted(set(RUNS) - {*UNFINISHED, "dlgm"}))
def test_every_finished_run_has_a_report(said, home, tmp_path, run):
    said("report", run, "--out", tmp_path / "report.html")
    written = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert data_of(home, run).name in written
    assert written.rstrip().endswith("</html>")


def test_the_history_holds_what_it_held(said, own_home, tmp_path):
    then = (FILES / "history-list.json").read_text(encoding="utf-8")
    assert said("history", "--json") == then
    said("history", "export", tmp_path / "history.json")
    assert (tmp_path / "history.json").read_bytes() == (FILES / "history.json").read_bytes()


def test_the_history_is_learned_from_by_another_dataset(said, own_home):
    data = own_home / "data" / "patients.csv"
    head, *rows = data.read_text(encoding="utf-8").splitlines()
    lines = [f"visits,{head}", *(f"{number % 7},{row}" for number, row in enumerate(rows))]
    data.write_text("\n".join(lines), encoding="utf-8")
    asked = ["--model", "svm", "--strategy", "transfer", "--trials", "2", "--seed", "9"]
    said("tune", data, *asked, "--run-dir", own_home / "runs" / "new")
    assert '"reason": "past"' in said("replay", "new", "--json")
    assert len(json.loads(said("history", "--json"))) == len(listed("history-list.json")) + 1


def test_an_exported_history_and_a_study_of_optuna_are_imported(said):
    said("history", "delete", "--starter")
    said("history", "import", FILES / "history.json")
    there = {one["id"]: one["trials"] for one in json.loads(said("history", "--json"))}
    # Datasets of one model; an id of one of several models was not read back then.
    then = {one["id"]: one["trials"] for one in listed("history-list.json")}
    assert there.items() >= {(one, trials) for one, trials in then.items() if "-" not in one}
    said("history", "import-optuna", FILES / "study.log", "--model", "logistic")
    assert len(json.loads(said("history", "--json"))) == len(there) + 1
