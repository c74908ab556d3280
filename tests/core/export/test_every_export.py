"""Every model of tables in every format, for two classes, several, and numbers.

The runs are real and small: 90 rows, two trials. What can be opened without this program is opened
in a Python that cannot import it, all files in one. Tolerances: skops and joblib 1e-12; ONNX 1e-9,
where trees are added up 1e-6 (numbers in standard deviations of the predictions); scores of a
script to the six digits that it prints.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pandas as pd
import pytest
from exported_files import OPEN, RUN, WITHOUT_NUMBA, check_outputs, tuned_run

from core.datasets.task import TABLE_TASKS
from core.estimators.multi_model import SEVERAL
from core.estimators.optional_parts import OPTIONAL_DEPENDENCIES, is_installed
from core.estimators.registry import MODELS
from core.export.exporters import export_run, exporters_for
from core.export.files import model_file
from core.export.finished_run import finished_run
from core.export.prediction import predict_file
from core.tuning.events import TrialFinished
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import read_data
from core.tuning.runs.best import best_of
from core.tuning.runs.run_folder import RunFolder
from core.tuning.scores.score import score_text

LIBRARIES = {"onnx": "onnx"}  # {format: the optional part that it needs}
LINEAR = ("linear", "elastic-net", "logistic", "logistic-l1l2")
NO_COUNTERPART = ("vote7",)  # models that ONNX does not have
COMPILED = "binary"  # the task whose scripts have numba: each compiles its own loops, for long
PROBABLE = {"svm": "log_loss"}  # a metric by which a model must give probabilities


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


def tables_of(task: str) -> list[tuple[str, str, str]]:
    # Several models in one run have files of their own: test_several_models.py.
    models = [name for name, model in MODELS.items() if task in model.tasks and name != SEVERAL]
    cases = [(task, name, "") for name in models]
    if task == "regression":
        return cases
    return [*cases, *((task, name, metric) for name, metric in PROBABLE.items())]


CASES = [case for task in TABLE_TASKS for case in tables_of(task)]
ALL = [(*case, format) for case in CASES for format in exporters_for(case[0], case[1])]


def write_table(path: Path, task: str) -> None:
    """Numbers with holes, a category, yes or no, and the target; one row lacks it."""
    random = np.random.default_rng(5)
    table = pd.DataFrame(random.normal(size=(91, 4)), columns=["size", "age", "a b", "größe"])
    table["colour"] = random.choice(["red", "green", "blue"], 91)
    table["paid"] = random.choice(["yes", "no"], 91)
    pull = 2 * table["size"] - table["a b"] + (table["colour"] == "red") + random.normal(size=91)
    words, cuts = np.array(["low", "middle", "top"], dtype=object), [0.5]
    cuts = [-0.5, 1.5] if task == "multiclass" else cuts
    table["goal"] = 1e5 + 3e4 * pull if task == "regression" else words[np.digitize(pull, cuts)]
    table.loc[::11, "age"] = np.nan
    table.loc[7, "goal"] = np.nan
    table.to_csv(path, index=False)


def run_of(folder: Path, task: str, model: str, metric: str) -> Case:
    data = DataPlan(str(folder / f"{task}.csv"), target="goal")
    dataset = read_data(data)
    assert dataset.task == task
    plan = Plan(data, model, "random", trials=2, folds=2, seed=1, metric=metric)
    run = tuned_run(folder / f"{task}-{model}{metric}", plan, dataset)
    case = Case(run, dataset)
    finished = finished_run(run)
    for name, exporter in exporters_for(task, model).items():
        file = f"{task}-{model}{metric}{exporter.ending}"
        try:
            export_run(finished, folder / file)
            case.files[name] = file
        except Exception as error:
            case.failed[name] = str(error)
    return case


class Made:
    """The runs of a task, made where one of its tests is run, and what their files say outside."""

    def __init__(self, folder: Path, run_outside: Any) -> None:
        self.folder, self.run_outside = folder, run_outside
        self._kept: dict[tuple[str, ...], Any] = {}

    def cases(self, task: str) -> dict[tuple[str, ...], Case]:
        return self._once(("cases", task), lambda: self._make(task))

    def opened(self, task: str) -> dict[str, Any]:
        """{file: predictions and probabilities} of its model files, opened without the program."""
        made = self.cases(task)
        files = ("skops", "joblib")
        return self._once(("opened", task), lambda: outside(made, self.run_outside, OPEN, *files))

    def printed(self, task: str) -> dict[str, Any]:
        """{file: what it prints} of its scripts, run without the program."""
        made = self.cases(task)
        code = RUN if task == COMPILED else WITHOUT_NUMBA + RUN
        return self._once(
            ("printed", task), lambda: outside(made, self.run_outside, code, "script")
        )

    def _make(self, task: str) -> dict[tuple[str, ...], Case]:
        write_table(self.folder / f"{task}.csv", task)
        return {
            case: run_of(self.folder, *case)
            for case in tables_of(task)
            if not MODELS[case[1]].extra or is_installed(MODELS[case[1]].extra)
        }

    def _once(self, key: tuple[str, ...], work: Callable[[], Any]) -> Any:
        if key not in self._kept:
            self._kept[key] = work()
        return self._kept[key]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, run_outside: Any) -> Made:
    return Made(tmp_path_factory.mktemp("every"), run_outside)


def outside(
    cases: dict[tuple[str, ...], Case], run_outside: Any, code: str, *formats: str
) -> dict[str, Any]:
    files = [case.files[name] for case in cases.values() for name in formats if name in case.files]
    folder = next(iter(cases.values())).folder.path.parent
    ran = run_outside(code, folder, *files)
    assert ran.returncode == 0, ran.stderr
    said: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return said


def close(case: Case, said: Any, ours: np.ndarray, tolerance: float) -> None:
    """Predictions, numbers or labels, are the same."""
    if case.dataset.task == "regression":
        np.testing.assert_allclose(said, ours, rtol=0, atol=tolerance * np.std(ours))
    else:
        assert list(said) == ours.tolist()


def check_model_file(case: Case, said: Any) -> None:
    pipeline, rows = best_of(case.folder), case.dataset.features
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
    results = finished_run(case.folder).results
    metric = results["metric"]
    scores = re.findall(r": (-?\d+\.\d+)$", text, re.MULTILINE)
    expected = [f"{results[key][metric]:.6f}" for key in ("test", "default_test")]
    assert scores[:2] == expected


def check_json(case: Case, path: Path) -> None:
    document, run = json.loads(path.read_text(encoding="utf-8")), finished_run(case.folder)
    assert document["scores"]["test"] == run.results["test"]
    assert document["parameters"] == run.results["setting"]
    assert ("coefficients" in document) == (case.folder.plan.model in LINEAR)
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
    text, results = path.read_text(encoding="utf-8"), finished_run(case.folder).results
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    for scores in (results["test"], results["default_test"]):
        assert score_text(scores[results["metric"]], results["metric"]) in text
    assert not re.search(r">(None|nan)<", text)


def check_folder(case: Case, path: Path) -> None:
    pipeline, data = best_of(case.folder), Path(case.folder.plan.data.file)
    said = predict_file(path, data)
    ours = pipeline.predict_proba(case.dataset.features)
    known = pd.read_csv(data)["goal"].notna().to_numpy()
    np.testing.assert_allclose(said.iloc[:, 1:].to_numpy()[known], ours, atol=1e-5)


def check_study(case: Case, path: Path) -> None:
    """Optuna itself reads every trial with its score."""
    study = optuna.load_study(study_name=None, storage=f"sqlite:///{path}")
    told = {e.number: e.score for e in case.folder.all_events() if isinstance(e, TrialFinished)}
    found = {trial.number: trial.value for trial in study.trials if trial.value is not None}
    assert found == pytest.approx(told)


CHECKS: dict[str, Callable[[Case, Path], None]] = {
    "onnx": check_onnx, "json": check_json, "report": check_report, "folder": check_folder,
    "optuna": check_study,
}  # fmt: skip


@pytest.mark.parametrize(("task", "model", "metric", "format"), ALL)
def test_every_model_in_every_format(
    made: Made, task: str, model: str, metric: str, format: str
) -> None:
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
