"""The report: well-formed, self-contained, honest in its headline; nothing hostile in it acts."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from exported_files import exported
from structured_runs import crf_run, rna_run

from core.datasets.reading import read_dataset
from core.estimators.multi_model import combined_setting
from core.export.finished_run import finished_run
from core.export.report.models_section import model_sections
from core.export.report.report_page import page_html
from core.json_reading import read_as
from core.records import to_plain
from core.space import Axis
from core.tuning.events import RunStarted, TrialFinished
from core.tuning.plan import DataPlan, Plan
from core.tuning.run_results import Results
from core.tuning.runs.state import state_from_events

PERCENT = "\N{NO-BREAK SPACE}%"


def drawings_of(text):
    """The page's drawings by their titles; whatever is not closed or escaped fails here."""
    body = re.sub(r"<(meta[^>]*|br)>", r"<\1/>", text.replace("<!DOCTYPE html>", ""))
    tree = ElementTree.fromstring(body)
    return {str(drawing.findtext("title")): drawing for drawing in tree.iter("svg")}


@pytest.mark.parametrize(
    ("task", "model", "learned", "words"),
    [
        ("binary", "logistic", False, ["Best score so far", "Calibration", "What was tried"]),
        ("multiclass", "logistic", True, ["Regularization trajectory", "Learned group penalties"]),
        ("regression", "boosting", False, ["How near are its predictions?", "The tuned setting"]),
        ("regression", "linear", True, ["Objective", "switched off"]),
    ],
)
def test_is_one_well_formed_page(make_run, tmp_path, task, model, learned, words):
    made = make_run(task, model, learned=learned)
    text = exported(made.folder, tmp_path / "report.html").read_text()
    for word in [*words, "prefers-color-scheme: dark", "@media print"]:
        assert word in text
    assert not re.search(r"(src|href)=|url\(|@import|<script", text)
    for title, drawing in drawings_of(text).items():
        assert title
        assert drawing.findtext("desc")
        assert drawing.get("role") == "img"
        assert "nan" not in " ".join(path.get("d", "") for path in drawing.iter("path"))


def changed(run, **results):
    return replace(run, results=read_as(Results, to_plain(run.results) | results))


def test_the_baseline_is_in_the_table_and_in_the_headline(make_run):
    run = finished_run(make_run().folder)
    over = {"metric": "accuracy", "difference": 0.1, "low": 0.0, "high": 0.2, "real": False}
    scores = {"baseline_test": {"accuracy": 0.5432}, "baseline_interval": [0.4, 0.6]}
    scores |= {"baseline": "the most frequent class"}
    text = page_html(changed(run, gain_over_baseline=over, **scores))
    drawings_of(text)
    assert text.count(f"54.3{PERCENT}") >= 3  # in short, in the picture, in the table
    worse = over | {"difference": -0.01}
    title = "not shown to beat knowing nothing"
    page = page_html(changed(run, setting={"C": 2.0}, gain_over_baseline=worse, **scores))
    assert title in page


def test_a_second_file_is_called_the_test_file(make_run):
    run = finished_run(make_run().folder)
    assert "On the test set of" in page_html(run)
    assert "On the test file of" in page_html(changed(run, second_file=True))
    older = replace(run, takeaway=replace(run.takeaway, test_source=run.takeaway.source))
    assert "On the test file of" in page_html(older)


def test_errors_are_told_by_recall_and_precision(make_run):
    run = finished_run(make_run().folder)
    confusion = {"labels": ["no", "yes"], "tuned": [[30, 10], [5, 55]], "default": []}
    text = page_html(changed(run, confusion=confusion))
    assert "Recall: the share of a class that is found." in text
    for share in (30 / 40, 55 / 60, 30 / 35, 55 / 65):  # two of recall, two of precision
        assert f"{100 * share:.1f}{PERCENT}" in text


def test_a_report_on_sequences(tmp_path):
    run = crf_run(tmp_path / "run")
    text = exported(run.folder, tmp_path / "report.html").read_text()
    drawings = drawings_of(text)
    assert f"{len(run.table)} tokens, 3 columns, 3 labels" in text
    assert "On the test set of 40 sequences (160 tokens), the tuned model is right on 130" in text
    assert "It labels 17 of 40 sequences without any error" in text
    assert f"81.2{PERCENT}" in text
    assert "&lt;b&gt;" in text
    assert {"Learned group penalties", "One labelled sequence"} <= set(drawings)
    description = drawings["Learned group penalties"].findtext("desc")
    assert description == "4 groups; λ from 0.5 (initial) to 4 (length)."
    assert "1/C, as in scikit-learn" not in text


def test_a_report_on_molecules(tmp_path):
    text = exported(rna_run(tmp_path / "run").folder, tmp_path / "report.html").read_text()
    drawings = drawings_of(text)
    assert "8 molecules, base pairs" in text
    assert "31 of the 37 pairs that it calls are right." in text
    assert "29 of the 41 it calls are right." in text
    curve = drawings["Does it find the pairs, and only them?"]
    assert str(curve.findtext("desc")).startswith("tuned: 66.0 % of the true pairs found")
    assert len(list(curve.iter("circle"))) == 30  # and a star and a diamond, where scores are of
    assert len(list(drawings["One folded molecule"].iter("path"))) >= 8


def test_of_a_model_without_a_whole_trial_the_estimate_is_told():
    axis = Axis("model", "Model", "choice", choices=("logistic", "svm"), default="logistic")
    started = RunStarted(plan={"model": "auto"}, space=[axis], metric="accuracy")
    svm = combined_setting("svm", {"C": 1.0})
    scores = enumerate((0.79, 0.81))
    ended = [TrialFinished(number=n, setting=svm, score=s, behind=True) for n, s in scores]
    state = state_from_events([started, *ended])
    run = SimpleNamespace(state=state, started=started, tunes_several_models=True)
    (section,) = model_sections(run)
    words = re.sub(r"<[^>]+>", "|", section).replace("\N{NO-BREAK SPACE}", " ")
    assert "about 81.0 %, ended early" in words
    assert "79.0" not in words


EVIL = "</title></style></svg><script>alert(1)</script><img src=x onerror=alert(1)>\"'`"
# Elements that only show; of their attributes none may start or fetch anything.
SHOWN = """html head meta title style body main header h1 h2 h3 p div section footer dl dt dd table
thead tbody tr th td details summary code svg desc g line path circle rect text br b strong em span
ul ol li figure figcaption tspan ellipse polyline polygon"""


class Seen(HTMLParser):
    def __init__(self):
        super().__init__()
        self.elements, self.attributes, self.meta = set(), set(), []

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag == "meta":
            self.meta.append(dict(attrs))


def check_harmless(text):
    """Nothing in it runs, loads or leads anywhere."""
    seen = Seen()
    seen.feed(text)
    assert seen.elements <= set(SHOWN.split())
    assert not [name for name in seen.attributes if name.startswith("on")]
    assert not seen.attributes & {"href", "src", "action", "xlink:href", "srcdoc", "background"}
    kind = "Content-Security-Policy"
    policy = next(meta["content"] for meta in seen.meta if meta.get("http-equiv") == kind)
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:")
    assert text.index(kind) < text.index("<title>")
    assert not [word for word in ("<script", "url(", "@import") if word in text.lower()]


def test_hostile_columns_classes_and_files(finish_run, tmp_path):
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(90, 2)), columns=[f"{EVIL} a", f"{EVIL} b"])
    table[f"{EVIL} c"] = random.choice([f"{EVIL} 1", f"{EVIL} 2"], 90)
    table[f"{EVIL} y"] = np.where(table.iloc[:, 0] > 0, f"{EVIL} yes", f"{EVIL} no")
    path = tmp_path / "<script>alert(1)<!-- onerror=x>.csv"
    table.to_csv(path, index=False)
    plan = Plan(DataPlan(str(path)), "logistic", "random")
    made = finish_run(plan, read_dataset(str(path)), tmp_path / "made")
    text = page_html(finished_run(made.folder))
    check_harmless(text)
    drawings_of(text)


def test_a_run_folder_that_a_stranger_wrote(make_run):
    # Every text in it is hostile that is no name of a model, a metric, a task and the like.
    made = make_run("binary", "logistic", learned=True)
    takeaway = json.loads(made.folder.takeaway_path.read_text())
    takeaway |= {"dataset": EVIL, "target": EVIL, "versions": {EVIL: EVIL}}
    for name in ("feature_names", "output_names", "group_names", "findings", "classes"):
        takeaway[name] = [EVIL + str(i) for i in range(len(takeaway[name]) or 1)]
    takeaway["source"] |= {"fingerprint": EVIL, "path": EVIL}
    takeaway["columns"] = [{**column, "name": EVIL} for column in takeaway["columns"]]
    made.folder.takeaway_path.write_text(json.dumps(takeaway))
    events = made.folder.path / "events.jsonl"
    lines = [json.loads(line) for line in events.read_text().splitlines()]
    texts = {"run", "because", "stopped_because", "reason", "remarks", "metric_reason"}
    for line in lines:
        for place in (line, line.get("results") or {}):
            for key in texts & place.keys():
                place[key] = [EVIL] if isinstance(place[key], list) else EVIL
    events.write_text("".join(json.dumps(line) + "\n" for line in lines))
    check_harmless(page_html(finished_run(made.folder)))
