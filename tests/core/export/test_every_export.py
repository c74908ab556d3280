"""Every model of tables in every format, for two classes, several, and numbers.

The runs are real and small: 90 rows, two trials; of several models, one and an average are taken.
What can be opened without this program is opened in a Python that cannot import it, all files in
one. Tolerances: skops and joblib 1e-12; ONNX 1e-9, where trees are added up 1e-6 (numbers in
standard deviations of the predictions); scores of a script to the six digits that it prints.
"""

from __future__ import annotations

import html
import importlib.util
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pandas as pd
import pytest
from exported_files import OPEN, RUN, WITHOUT_NUMBA, check_outputs, tuned_run, write_table
from sklearn.ensemble import VotingClassifier, VotingRegressor

from core.datasets.task import TABLE_TASKS
from core.estimators.model_settings import title_of
from core.estimators.multi_model import SEVERAL, without_own_columns
from core.estimators.optional_parts import OPTIONAL_DEPENDENCIES, is_installed
from core.estimators.registry import MODELS
from core.estimators.stored.plain_model import on_own_scale
from core.export.exportable_models import exportable_models
from core.export.exporters import EXPORTERS, export_run, exporters_for
from core.export.files import model_file
from core.export.finished_run import FinishedRun, finished_run, with_selected_model
from core.export.prediction import predict_file
from core.export.raw_rows import card_of
from core.tuning.events import EnsembleUpdated, Event, ModelSelected, TrialFinished
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import read_data
from core.tuning.results.conclude import select_model
from core.tuning.runs.run_folder import RunFolder
from core.tuning.scores.score import score_text

pytestmark = pytest.mark.slow
LIBRARIES = {"onnx": "onnx"}  # {format: the optional part that it needs}
LINEAR = ("linear", "elastic-net", "logistic", "logistic-l1l2")
NO_COUNTERPART = ("vote7",)  # models that ONNX does not have
COMPILED = "binary"  # the task whose scripts have numba: each compiles its own loops, for long
PROBABLE = {"svm": "log_loss"}  # a metric by which a model must give probabilities
RACED = {
    "binary": ("logistic", "logistic-l1l2", "forest"),
    "multiclass": ("logistic", "svm", "elastic-net"),
    "regression": ("linear", "svm", "forest"),
}
AVERAGE = "average"  # of several models, the best of each


@dataclass
class Case:
    """A finished run and its files.

    Attributes:
        files: {format: file in the folder of all}.
        failed: {format: why there is none}.
    """

    folder: RunFolder
    dataset: Any
    files: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    @cached_property
    def finished(self) -> FinishedRun:
        return finished_run(self.folder)

    def text(self, format: str) -> str:
        return (self.folder.path.parent / self.files[format]).read_text(encoding="utf-8")


def tables_of(task: str) -> list[tuple[str, str, str]]:
    """The cases of a task: its name, a model, and a metric or what of several models is taken."""
    models = [name for name, model in MODELS.items() if task in model.tasks and name != SEVERAL]
    cases = [(task, name, "") for name in models]
    cases += [(task, SEVERAL, kind) for kind in ("best", AVERAGE)]
    if task == "regression":
        return cases
    return [*cases, *((task, name, metric) for name, metric in PROBABLE.items())]


def formats_of(task: str, model: str) -> list[str]:
    """All of them; a report, which fits anew to explain, of every model in one task."""
    reported = task == "binary" or model in (*RACED[task], SEVERAL)
    return [name for name in exporters_for(task, model) if reported or name != "report"]


CASES = [case for task in TABLE_TASKS for case in tables_of(task)]
ALL = [(*case, format) for case in CASES for format in formats_of(case[0], case[1])]


def average_of(events: list[Event]) -> EnsembleUpdated:
    """An average of the best trial of every model, whatever the run itself has found."""
    best: dict[str, TrialFinished] = {}
    for event in events:
        if isinstance(event, TrialFinished) and not event.behind:
            before = best.setdefault(event.setting["model"], event)
            if event.score > before.score:
                best[event.setting["model"]] = event
    members = list(best.values())
    weights = [0.5, 0.3, 0.2][: len(members)]
    return EnsembleUpdated(
        finished=len(events), members=[m.number for m in members],
        weights=[w / sum(weights) for w in weights], scores=[m.score for m in members],
        average=0.9, single=0.8, kind="greedy",
    )  # fmt: skip


class Made:
    """The runs of a task, made where one of its tests is run, and what their files say outside."""

    def __init__(self, folder: Path, run_outside: Any) -> None:
        self.folder, self.run_outside = folder, run_outside
        self._kept: dict[tuple[str, ...], Any] = {}

    def cases(self, task: str) -> dict[tuple[str, ...], Case]:
        return self._once(("cases", task), lambda: dict(self._make_cases(task)))

    def opened(self, task: str) -> dict[str, Any]:
        """{file: predictions and probabilities} of its model files, opened without the program."""
        return self._once(("opened", task), lambda: self._outside(task, OPEN, "skops", "joblib"))

    def printed(self, task: str) -> dict[str, Any]:
        """{file: what it prints} of its scripts, run without the program."""
        code = RUN if task == COMPILED else WITHOUT_NUMBA + RUN
        return self._once(("printed", task), lambda: self._outside(task, code, "script"))

    def _make_cases(self, task: str) -> Iterator[tuple[tuple[str, ...], Case]]:
        write_table(self.folder / f"{task}.csv", task)
        data = DataPlan(str(self.folder / f"{task}.csv"), target="goal")
        dataset = read_data(data)
        assert dataset.task == task
        race = Plan(data, SEVERAL, "race", trials=10, folds=2, seed=1)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("core.tuning.candidate_models.selectable_models", lambda *_: RACED[task])
            raced = tuned_run(self.folder / f"{task}-race", race, dataset)
        with raced.hold_lock():
            raced.append(average_of(raced.all_events()))
        raced.close()
        for case in tables_of(task):
            _, model, how = case
            if MODELS[model].extra and not is_installed(MODELS[model].extra):
                continue
            path = self.folder / f"{task}-{model}{how}"
            if model == SEVERAL:
                run = RunFolder.open(shutil.copytree(raced.path, path))
                select_model(run, ModelSelected(kind=how), dataset)
            else:
                plan = Plan(data, model, "random", trials=2, folds=2, seed=1, metric=how)
                run = tuned_run(path, plan, dataset)
            yield case, exported_case(Case(run, dataset))

    def _outside(self, task: str, code: str, *formats: str) -> dict[str, Any]:
        cases = self.cases(task).values()
        files = [case.files[name] for case in cases for name in formats if name in case.files]
        ran = self.run_outside(code, self.folder, *files)
        assert ran.returncode == 0, ran.stderr
        said: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
        return said

    def _once(self, key: tuple[str, ...], work: Callable[[], Any]) -> Any:
        if key not in self._kept:
            self._kept[key] = work()
        return self._kept[key]


def exported_case(case: Case) -> Case:
    """The case with every file that it can give beside the run."""
    finished, path = case.finished, case.folder.path
    for name in formats_of(case.dataset.task, finished.plan.model):
        exporter = EXPORTERS[name]
        try:
            export_run(finished, path.with_name(path.name + exporter.ending))
            case.files[name] = path.name + exporter.ending
        except Exception as error:
            case.failed[name] = str(error)
    return case


@pytest.fixture(scope="module")
def made(tmp_path_factory, run_outside):
    return Made(tmp_path_factory.mktemp("every"), run_outside)


def close(case: Case, said: Any, ours: np.ndarray, tolerance: float) -> None:
    """Predictions, numbers or labels, are the same."""
    if case.dataset.task == "regression":
        np.testing.assert_allclose(said, ours, rtol=0, atol=tolerance * np.std(ours))
    else:
        assert list(said) == ours.tolist()


def check_model_file(case: Case, said: Any) -> None:
    pipeline, rows = case.finished.pipeline, case.dataset.features
    close(case, said[0], pipeline.predict(rows), 1e-12)
    assert (said[1] is None) == (not hasattr(pipeline, "predict_proba"))
    if said[1] is not None:
        np.testing.assert_allclose(said[1], pipeline.predict_proba(rows), rtol=0, atol=1e-12)


def check_onnx(case: Case, path: Path) -> None:
    """By the runtime alone: inputs are fed column by column."""
    import onnxruntime

    rows = case.dataset.features
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    columns = {}
    for taken in session.get_inputs():
        values = rows[taken.name]
        text = taken.type == "tensor(string)"
        columns[taken.name] = (
            values.astype(object).where(values.notna(), "").to_numpy(dtype=object)
            if text
            else values.to_numpy(dtype=np.float64)
        ).reshape(-1, 1)
    names = [given.name for given in session.get_outputs()]
    said = dict(zip(names, session.run(None, columns), strict=True))
    assert ("scores" in said) <= (case.folder.plan.model == "svm")
    check_outputs(said, case.folder, rows)


def check_script(case: Case, text: str) -> None:
    results = case.finished.results
    metric = results["metric"]
    scores = re.findall(r": (-?\d+\.\d+)$", text, re.MULTILINE)
    expected = [f"{results[key][metric]:.6f}" for key in ("test", "default_test")]
    assert scores[:2] == expected


def check_json(case: Case, path: Path) -> None:
    document, run = json.loads(path.read_text(encoding="utf-8")), case.finished
    assert document["scores"]["test"] == run.results["test"]
    assert document["parameters"] == run.results["setting"]
    if run.tunes_several_models:
        return
    assert ("coefficients" in document) == (run.plan.model in LINEAR)
    if "coefficients" not in document:
        return
    weights, constant = (document["coefficients"][name] for name in ("weights", "intercept"))
    names = run.takeaway.output_names
    prepared = run.pipeline[:-1].transform(case.dataset.features)
    if isinstance(constant, dict):
        W = np.array([[weights[name][label] for label in constant] for name in names])
        said = prepared @ W + np.array(list(constant.values()))
    else:
        said = prepared @ np.array([weights[name] for name in names]) + constant
    model = run.pipeline[-1]
    ours = getattr(model, "decision_function", model.predict)(prepared)
    np.testing.assert_allclose(said, ours, rtol=1e-9, atol=1e-9)


class Balanced(HTMLParser):
    """Counts elements that were opened and never closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in ("meta", "br", "hr", "img", "link", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check_report(case: Case, path: Path) -> None:
    text, results = path.read_text(encoding="utf-8"), case.finished.results
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    for scores in (results["test"], results["default_test"]):
        assert score_text(scores[results["metric"]], results["metric"]) in text
    assert not re.search(r">(None|nan)<", text)


def check_folder(case: Case, path: Path) -> None:
    pipeline, data = case.finished.pipeline, Path(case.folder.plan.data.file)
    said = predict_file(path, data)
    ours = pipeline.predict_proba(case.dataset.features)
    known = pd.read_csv(data)["goal"].notna().to_numpy()
    np.testing.assert_allclose(said.iloc[:, 1:].to_numpy()[known], ours, atol=1e-5)


def check_study(case: Case, path: Path) -> None:
    """Optuna itself reads every trial with its score; of several models each has a study."""
    studies = optuna.get_all_study_summaries(f"sqlite:///{path}")
    trials = [
        trial
        for summary in studies
        for trial in optuna.load_study(
            study_name=summary.study_name, storage=f"sqlite:///{path}"
        ).trials
    ]
    events = (e for e in case.folder.all_events() if isinstance(e, TrialFinished))
    scores = sorted(event.score for event in events if not event.behind)
    values = sorted(trial.value for trial in trials if trial.value is not None)
    assert values == pytest.approx(scores)


def check_mlflow(case: Case, path: Path) -> None:
    """Its loader, which others run without this program, gives the pipeline's predictions."""
    (module_path,) = (path / "code").iterdir()
    spec = importlib.util.spec_from_file_location(module_path.stem, module_path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its dataclasses are looked up
    spec.loader.exec_module(module)
    table = pd.read_csv(case.folder.plan.data.file)
    predictions = module._load_pyfunc(str(path / "model.skops")).predict(table)
    is_usable = table["goal"].notna().to_numpy()
    pipeline, features = case.finished.pipeline, case.dataset.features
    if case.dataset.task.has_classes and hasattr(pipeline, "predict_proba"):
        values, ours = predictions.iloc[:, 1:], pipeline.predict_proba(features)
    else:
        values, ours = predictions["prediction"], pipeline.predict(features)
    values = values.to_numpy()[is_usable]
    if ours.dtype.kind != "f":
        assert [str(value) for value in values] == [str(label) for label in ours]
        return
    np.testing.assert_allclose(values.astype(float), ours, atol=1e-9)


CHECKS: dict[str, Callable[[Case, Path], None]] = {
    "onnx": check_onnx, "json": check_json, "report": check_report, "folder": check_folder,
    "mlflow": check_mlflow, "optuna": check_study,
}  # fmt: skip


@pytest.mark.parametrize(("task", "model", "metric", "format"), ALL)
def test_every_model_in_every_format(made, task, model, metric, format):
    for part in (MODELS[model].extra, LIBRARIES.get(format, "")):
        if part and not is_installed(part):
            pytest.skip(f"{OPTIONAL_DEPENDENCIES[part].does} are not installed")
    case = made.cases(task)[task, model, metric]
    if format == "onnx" and model in NO_COUNTERPART:
        assert "ONNX has no counterpart" in case.failed["onnx"]
        return
    assert format not in case.failed, case.failed[format]
    path = case.folder.path.parent / case.files[format]
    if format == "skops":
        model_file.load_skops(path)  # every type inside is on the list
    if format in ("skops", "joblib"):
        check_model_file(case, made.opened(task)[path.name])
    elif format == "script":
        check_script(case, made.printed(task)[path.name])
    else:
        CHECKS[format](case, path)


@pytest.fixture(params=[(task, kind) for task in RACED for kind in ("best", AVERAGE)])
def several(made, request):
    # A run that tuned several models, the kind of what was taken, and its case.
    task, kind = request.param
    case = made.cases(task)[task, SEVERAL, kind]
    return case.finished, kind, case


def test_what_was_picked_is_a_model_or_a_vote_of_several(several):
    run, kind, case = several
    model, names = run.pipeline[-1], RACED[case.dataset.task]
    is_vote = isinstance(model, (VotingRegressor, VotingClassifier))
    assert is_vote == (kind == AVERAGE)
    script = case.text("script")
    if kind == AVERAGE:
        settings = run.results["ensemble"]["settings"]
        assert {setting["model"] for setting in settings} <= set(names)
        members = [without_own_columns(member)[0] for member in model.estimators_]
        assert len({type(on_own_scale(member)[0]) for member in members}) > 1
        assert script.startswith(f'"""Average of {len(members)} models')
        assert script.count('("trial ') == len(members)
    else:
        title = title_of(run.results["setting"]["model"])
        assert script.startswith(f'"""{title}, the best of 3 models, for ')


def test_card_and_numbers_name_models_and_settings(several):
    run, kind, case = several
    names, results = set(RACED[case.dataset.task]), run.results
    settings = results["ensemble"]["settings"] if kind == AVERAGE else [results["setting"]]
    card = card_of(model_file.load_skops(case.folder.path.parent / case.files["skops"]))
    assert card["model"] == SEVERAL
    assert card["models"] == list(dict.fromkeys(setting["model"] for setting in settings))
    document = json.loads(case.text("json"))
    assert document["model"] == SEVERAL
    assert document["parameters"]["model"] in names
    assert {model["model"] for model in document["models"]} == names
    trials = [event for event in run.events if isinstance(event, TrialFinished)]
    first = document["models"][0]
    own = [e.score for e in trials if e.setting["model"] == first["model"] and not e.behind]
    assert first["validation"] <= max(own)
    early = [trial["number"] for trial in document["trials"] if trial.get("ended_early")]
    assert early == [trial.number for trial in trials if trial.behind]
    members = document["average"]["members"] if kind == AVERAGE else ()
    assert {member["parameters"]["model"] for member in members} <= names
    told = {choice.name: choice.sentence for choice in exportable_models(run.state)}
    for trial in run.state.scored_trials():
        assert ("ended early" in told[str(trial.number)]) == trial.behind


def test_the_report_tells_of_every_model(several):
    run, kind, case = several
    text = " ".join(html.unescape(re.sub("<[^>]*>", " ", case.text("report"))).split())
    assert "Which model is best?" in text
    assert all(title_of(name) in text for name in RACED[case.dataset.task])
    if kind == AVERAGE:
        assert f"Average of {len(run.results['ensemble']['members'])} models" in text
        return
    setting = run.results["setting"]
    assert f"{title_of(setting['model'])}, the best of 3 models" in text
    labels = run.labels_of(setting["model"])
    assert all(label in text for name, label in labels.items() if name in setting)


def test_other_models_of_the_run_can_be_taken_too(made, tmp_path, run_outside):
    case = made.cases("binary")["binary", SEVERAL, "best"]
    run = case.finished
    titles = {choice.name: choice.title for choice in exportable_models(run.state)}
    assert titles["default"] == "The default setting of logistic regression"
    assert titles["tuned"].startswith("The tuned model: ")
    assert titles["0"].startswith("Trial 0, ")
    for which in ("default", "baseline", "0"):
        chosen = with_selected_model(run, which)
        for ending in (".skops", ".json", ".py", ".joblib"):
            export_run(chosen, tmp_path / f"{which}{ending}")
    default = json.loads((tmp_path / "default.json").read_text())["parameters"]
    assert default == run.results["default_setting"]
    shutil.copy(made.folder / "binary.csv", tmp_path / "binary.csv")
    ran = run_outside(WITHOUT_NUMBA + RUN, tmp_path, "default.py", "baseline.py", "0.py")
    assert ran.returncode == 0, ran.stderr
    score = run.results["default_test"][run.results["metric"]]
    assert f"{score:.6f}" in json.loads(ran.stdout)["default.py"]
