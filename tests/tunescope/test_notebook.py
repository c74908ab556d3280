"""In a notebook: progress as a run goes on, a result and pictures that show themselves."""

from __future__ import annotations

import base64
import contextlib
import shutil
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import tunescope
from core.figures.belief_figure import belief_figure
from core.figures.figure import Dots, Lines
from core.tuning.events import TrialFinished
from core.tuning.runs.state import state_from_events
from tunescope import progress_bar

HOSTILE = '<script>alert("1")</script>&\''
CELLS = (
    "import tunescope",
    'settings = {"model": "knn", "strategy": "random", "trials": 2, "in_process": True}',
    'done = tunescope.tune("sample:iris", **settings)',
    "done",
    'done.plot("best")',
)


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A run whose columns and classes are named by a stranger."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({HOSTILE: rng.normal(size=80), "b": rng.normal(size=80)})
    table["y"] = np.where(table[HOSTILE] > 0, HOSTILE, "b")
    folder = tmp_path_factory.mktemp("runs") / "<b>run"
    quick = {"model": "logistic", "strategy": "gp", "trials": 6, "evaluation": "test"}
    return tunescope.tune(table, "y", run=folder, history=False, in_process=True, **quick)


class Elements(HTMLParser):
    """The elements of some HTML, with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.mark.slow
def test_a_notebook_shows_progress_and_the_result(monkeypatch):
    nbformat = pytest.importorskip("nbformat", reason="nbformat (extra test) is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient (extra test) is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel (extra test) is not installed")
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    kernel = {"name": "python3", "display_name": "", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    # Commands that ran here set them for their children; a kernel drops its folder from the path.
    for name in ("PYTHONSAFEPATH", "PYTHONPATH"):
        monkeypatch.delenv(name, raising=False)
    resources = {"metadata": {"path": str(Path(__file__).parents[2])}}
    nbclient.NotebookClient(notebook, timeout=200, resources=resources).execute()
    _, _, tuned, shown, plotted = (cell.outputs for cell in notebook.cells)
    progress = "".join(str(output) for output in tuned)
    assert "trial 2 of 2, best accuracy" in progress
    assert "done, best accuracy" in progress
    [answer] = shown
    assert answer.data["text/plain"].startswith("<TunedRun ")
    assert "data:image/svg+xml" in answer.data["text/html"]
    [picture] = plotted
    assert picture.data["image/svg+xml"].startswith("<svg")


def test_the_result_is_html_without_script_and_text_is_escaped(done):
    elements = Elements(done._repr_html_())
    assert elements.open == []
    assert {tag for tag, _ in elements.found} <= {
        "div", "p", "strong", "img", "table", "thead", "tbody", "tr", "th", "td",
    }  # fmt: skip
    # Colours of its own would not suit every notebook; the image brings its paper.
    assert all(
        set(attributes) <= {"class", "scope", "alt", "src"} for _, attributes in elements.found
    )
    assert repr(done).removeprefix("<TunedRun <b>run: ").split(".")[0] in elements.text
    assert HOSTILE in elements.text
    [image] = [attributes for tag, attributes in elements.found if tag == "img"]
    kind, _, content = image["src"].partition("base64,")
    assert kind == "data:image/svg+xml;"
    assert legible(base64.b64decode(content).decode())


def legible(svg: str) -> bool:
    """Whether an SVG is XML that paints its paper first, resolves its colours and runs nothing."""
    root = ElementTree.fromstring(svg)
    names = [element.tag.rpartition("}")[2] for element in root.iter()]
    assert names[:5] == ["svg", "title", "desc", "style", "path"]
    assert "script" not in names
    assert "var(" not in svg
    return root[3].get("class") == "f-paper" and ".f-paper { fill: #FFFFFF; }" in svg


@pytest.mark.parametrize("name", ["scores", "calibration", "best", "belief", "belief C"])
def test_pictures_are_those_of_the_report_and_are_kept_as_shown(done, name, tmp_path):
    picture = done.plot(name)
    assert legible(picture._repr_svg_())
    picture.save(tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").read_text(encoding="utf-8") == picture.svg
    with pytest.raises(tunescope.UnusableError, match=r"a picture is SVG; name it picture\.svg"):
        picture.save(tmp_path / "picture.png")
    with pytest.raises(tunescope.UnusableError, match="the picture cannot be written"):
        picture.save(tmp_path / "absent" / "picture.svg")


def test_a_picture_that_a_run_has_not_is_answered_by_those_it_has(done):
    names = "scores, calibration, best, belief and belief C"
    with pytest.raises(tunescope.UnusableError, match=f"no picture “penalties”; it has {names}"):
        done.plot("penalties")


def test_a_run_without_trials_says_that_it_has_no_picture_yet(done, tmp_path):
    folder = shutil.copytree(done.run, tmp_path / "started")
    first, *_ = (folder / "events.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "events.jsonl").write_bytes(first)
    with pytest.raises(tunescope.UnusableError, match="“best”; it has none before its trials"):
        tunescope.open_run(folder).plot("best")


def test_the_belief_is_that_of_the_surrogate(done):
    run = state_from_events(done.events)
    figure = belief_figure(run, "C")
    mean, trials = figure.mark(Lines, "mean"), figure.mark(Dots, "trials")
    assert np.array_equal(trials.y, done.trials["score"])
    assert np.allclose(trials.x, np.log10(done.trials["params_C"]))
    # The curve passes the best trial within the noise that the surrogate learned.
    best = done.trials["score"].idxmax()
    expected = np.interp(trials.x[best], mean.x, mean.y)
    assert abs(expected - trials.y[best]) < 0.05
    with pytest.raises(KeyError):
        belief_figure(run, "gamma")


@pytest.mark.parametrize("installed", ["tqdm", "rich", ""])
def test_progress_is_told_by_what_is_installed(done, installed, monkeypatch, capsys):
    if installed:
        pytest.importorskip(installed)
    monkeypatch.setattr(progress_bar, "find_spec", lambda name: name == installed or None)
    with contextlib.ExitStack() as stack:
        show = progress_bar.progress_bar(stack)
        for event in done.events:
            show(event)
    written = "".join(capsys.readouterr())
    assert "done, best accuracy" in written
    assert "100" in written


def is_trial(event) -> bool:
    return isinstance(event, TrialFinished)


def test_without_a_notebook_nothing_is_shown_unless_asked(tmp_path, capsys):
    quick = {"model": "knn", "strategy": "random", "trials": 1, "in_process": True}
    events = []
    tunescope.tune("sample:iris", run=tmp_path / "a", callback=events.append, **quick)
    assert "".join(capsys.readouterr()) == ""
    tunescope.tune("sample:iris", run=tmp_path / "b", progress=False, **quick)
    assert "".join(capsys.readouterr()) == ""
    run = tmp_path / "c"
    ended = tunescope.tune("sample:iris", run=run, progress=True, callback=is_trial, **quick)
    assert "done" in "".join(capsys.readouterr())
    assert ended.events[-1].because == "enough had been tried"
    assert type(events[-1]).__name__ == "RunFinished"


def test_what_was_read_is_a_table_and_text_is_escaped():
    table = pd.DataFrame({HOSTILE: np.arange(60) % 7, "y": np.arange(60) % 2, "empty": None})
    html = tunescope.read(table, "y")._repr_html_()
    shown = Elements(html)
    assert "script" not in [name for name, _ in shown.found]
    assert shown.open == []
    assert [name for name, _ in shown.found].count("tr") == 1 + 3
    assert HOSTILE in shown.text
    assert "60 rows to predict “y” from." in shown.text
