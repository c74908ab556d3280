"""Every export of runs that tuned several models: one of them, and an average over them.

The runs are real and small: 90 rows, three models. What was picked afterwards is exported from the
same run. Predictions outside this program agree to 1e-12, ONNX to 1e-9, where trees are added up
1e-6; a script prints the scores of the run to the six digits that it prints.
"""

from __future__ import annotations

import html
import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from exported_files import OPEN, RUN, WITHOUT_NUMBA, tuned_run
from sklearn.ensemble import VotingClassifier, VotingRegressor

from core.estimators.model_settings import title_of
from core.estimators.multi_model import without_own_columns
from core.estimators.optional_parts import is_installed
from core.estimators.stored.plain_model import on_own_scale
from core.export.exportable_models import exportable_models
from core.export.exporters import export_from_folder, export_run, exporters_for
from core.export.files import model_file
from core.export.finished_run import FinishedRun, finished_run, with_selected_model
from core.export.prediction import predict_file
from core.export.raw_rows import card_of
from core.tuning.events import EnsembleUpdated, Event, ModelSelected, TrialFinished
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import read_data
from core.tuning.results.conclude import select_model
from core.tuning.runs.best import best_of
from core.tuning.runs.run_folder import RunFolder

MODELS = {
    "binary": ("logistic", "logistic-l1l2", "forest"),
    "multiclass": ("logistic", "svm", "elastic-net"),
    "regression": ("linear", "svm", "forest"),
}
KINDS = ("best", "average")
CASES = [(task, kind) for task in MODELS for kind in KINDS]


def write_table(path: Path, task: str) -> None:
    """Numbers, categories of few and many levels, holes, and the target; one row lacks it."""
    random = np.random.default_rng(5)
    table = pd.DataFrame(random.normal(size=(91, 3)), columns=["size", "age", "a b"])
    table["colour"] = random.choice(["red", "green", "blue"], 91)
    table["shop"] = np.random.default_rng(6).choice([f"shop {i}" for i in range(13)], 91)
    pull = 2 * table["size"] - table["a b"] + (table["colour"] == "red") + random.normal(size=91)
    words, cuts = np.array(["low", "middle", "top"], dtype=object), [0.5]
    cuts = [-0.5, 1.5] if task == "multiclass" else cuts
    table["goal"] = 1e5 + 3e4 * pull if task == "regression" else words[np.digitize(pull, cuts)]
    table.loc[::11, ["age", "colour", "shop"]] = np.nan
    table.loc[7, "goal"] = np.nan
    table.to_csv(path, index=False)


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


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[tuple[str, str], RunFolder]:
    """{(task, what was taken): a run}, and beside the runs every file that they can give."""
    folder, found = tmp_path_factory.mktemp("several"), {}
    with pytest.MonkeyPatch.context() as patch:
        for task, names in MODELS.items():
            patch.setattr(
                "core.tuning.candidate_models.selectable_models", lambda *_, names=names: names
            )
            write_table(folder / f"{task}.csv", task)
            data = DataPlan(str(folder / f"{task}.csv"), target="goal")
            plan = Plan(data, "auto", "race", trials=10, folds=2, seed=1)
            dataset = read_data(data)
            run = tuned_run(folder / f"{task}-run", plan, dataset)
            with run.hold_lock():
                run.append(average_of(run.all_events()))
            run.close()
            for kind in KINDS:
                copy = folder / f"{task}-{kind}"
                shutil.copytree(run.path, copy)
                found[task, kind] = RunFolder.open(copy)
                select_model(found[task, kind], ModelSelected(kind=kind), dataset)
                for name, exporter in exporters_for(task, "auto").items():
                    if name != "onnx" or is_installed("onnx"):
                        export_from_folder(
                            found[task, kind], folder / f"{task}-{kind}{exporter.ending}"
                        )
    return found


def folder_of(runs: dict[Any, RunFolder]) -> Path:
    return next(iter(runs.values())).path.parent


def read(runs: dict[Any, RunFolder], task: str, kind: str, ending: str) -> str:
    return (folder_of(runs) / f"{task}-{kind}{ending}").read_text(encoding="utf-8")


def test_what_was_picked_is_a_model_or_a_vote_of_several(runs):
    for (task, kind), run in runs.items():
        model = best_of(run)[-1]
        vote = VotingRegressor if task == "regression" else VotingClassifier
        assert isinstance(model, vote) == (kind == "average")
        if kind == "average":
            names = {s["model"] for s in finished_run(run).results["ensemble"]["settings"]}
            assert names <= set(MODELS[task])
            members = [without_own_columns(member)[0] for member in model.estimators_]
            assert len({type(on_own_scale(member)[0]) for member in members}) > 1


def test_models_say_the_same_without_the_program(runs, run_outside):
    files = [f"{task}-{kind}{end}" for task, kind in CASES for end in (".skops", ".joblib")]
    ran = run_outside(OPEN, folder_of(runs), *files)
    assert ran.returncode == 0, ran.stderr
    for file, said in json.loads(ran.stdout).items():
        task, kind = file.partition(".")[0].split("-")
        run = runs[task, kind]
        pipeline, X = best_of(run), read_data(run.plan.data).features
        asked = pipeline.predict if task == "regression" else pipeline.predict_proba
        answers = said[0] if task == "regression" else said[1]
        np.testing.assert_allclose(answers, asked(X), rtol=1e-12, atol=1e-12, err_msg=file)


def test_scripts_print_the_scores_of_the_run(runs, run_outside):
    ran = run_outside(
        WITHOUT_NUMBA + RUN, folder_of(runs), *(f"{task}-{kind}.py" for task, kind in CASES)
    )
    assert ran.returncode == 0, ran.stderr
    for file, printed in json.loads(ran.stdout).items():
        task, kind = file.removesuffix(".py").split("-")
        results = finished_run(runs[task, kind]).results
        metric = results["metric"]
        scores = re.findall(r": (-?\d+\.\d{6})", printed)
        wanted = [results[name][metric] for name in ("test", "default_test")]
        assert scores == [f"{score:.6f}" for score in wanted], file


@pytest.mark.skipif(not is_installed("onnx"), reason="onnx is not installed")
def test_onnx_says_the_same(runs):
    import onnxruntime  # noqa: F401

    for task, kind in CASES:
        path = folder_of(runs) / f"{task}-{kind}.onnx"
        said = predict_file(path, folder_of(runs) / f"{task}.csv")["prediction"].to_numpy()
        X = read_data(runs[task, kind].plan.data).features
        here = best_of(runs[task, kind]).predict(X)
        kept = np.delete(np.arange(len(said)), 7)
        if task == "regression":
            np.testing.assert_allclose(said[kept], here, rtol=1e-6)
        else:
            assert said[kept].tolist() == here.tolist()


def test_a_script_says_of_how_many_models_it_is(runs):
    best = finished_run(runs["binary", "best"])
    text = read(runs, "binary", "best", ".py")
    title = title_of(best.results["setting"]["model"])
    assert text.startswith(f'"""{title}, the best of 3 models, for binary')
    assert "# The setting without tuning (Logistic regression), to compare with." in text
    for task in MODELS:
        members = finished_run(runs[task, "average"]).results["ensemble"]["members"]
        text = read(runs, task, "average", ".py")
        assert text.startswith(f'"""Average of {len(members)} models')
        assert text.count('("trial ') == len(members)


@pytest.mark.parametrize(("task", "kind"), CASES)
def test_card_and_numbers_name_models_and_settings(runs, task, kind):
    results = finished_run(runs[task, kind]).results
    settings = results["ensemble"]["settings"] if kind == "average" else [results["setting"]]
    card = card_of(model_file.load_skops(folder_of(runs) / f"{task}-{kind}.skops"))
    assert card["model"] == "auto"
    assert card["models"] == list(dict.fromkeys(setting["model"] for setting in settings))
    document = json.loads(read(runs, task, kind, ".json"))
    assert document["model"] == "auto"
    assert document["parameters"]["model"] in MODELS[task]
    assert {one["model"] for one in document["models"]} == set(MODELS[task])
    first = document["models"][0]
    events = runs[task, kind].all_events()
    whole = [e for e in events if isinstance(e, TrialFinished) and not e.behind]
    own = [e.score for e in whole if e.setting["model"] == first["model"]]
    assert first["validation"] <= max(own)
    early = [trial["number"] for trial in document["trials"] if trial.get("ended_early")]
    assert early == [e.number for e in events if isinstance(e, TrialFinished) and e.behind]
    if kind == "average":
        assert {m["parameters"]["model"] for m in document["average"]["members"]} <= set(
            MODELS[task]
        )


@pytest.mark.parametrize(("task", "kind"), CASES)
def test_the_report_tells_of_every_model(runs, task, kind):
    text = re.sub("<[^>]*>", " ", read(runs, task, kind, ".html"))
    text = " ".join(html.unescape(text).split())
    assert "Which model is best?" in text
    assert all(title_of(name) in text for name in MODELS[task])
    assert "Find the best model" not in text
    run = finished_run(runs[task, kind])
    if kind == "average":
        assert f"Average of {len(run.results['ensemble']['members'])} models" in text
        return
    assert f"{title_of(run.results['setting']['model'])}, the best of 3 models" in text
    labels = run.labels_of(run.results["setting"]["model"])
    assert all(label in text for name, label in labels.items() if name in run.results["setting"])


def test_other_models_of_the_run_can_be_taken_too(runs, tmp_path, run_outside):
    folder = runs["binary", "best"]
    run = finished_run(folder)
    found = {choice.name: choice for choice in exportable_models(run.state)}
    default = run.results["default_setting"]
    assert found["default"].title == "The default setting of logistic regression"
    assert found["tuned"].title.startswith("The tuned model: ")
    assert found["0"].title.startswith("Trial 0, ")
    for which in ("default", "baseline", "0"):
        chosen: FinishedRun = with_selected_model(run, which)
        for ending in (".skops", ".json", ".py", ".joblib"):
            export_run(chosen, tmp_path / f"{which}{ending}")
    assert json.loads((tmp_path / "default.json").read_text())["parameters"] == default
    shutil.copy(folder.path.parent / "binary.csv", tmp_path / "binary.csv")
    ran = run_outside(WITHOUT_NUMBA + RUN, tmp_path, "default.py", "baseline.py", "0.py")
    assert ran.returncode == 0, ran.stderr
    printed = json.loads(ran.stdout)["default.py"]
    score = run.results["default_test"][run.results["metric"]]
    assert f"{score:.6f}" in printed


def test_a_trial_that_was_ended_early_says_so_in_the_list(runs):
    for folder in runs.values():
        state = finished_run(folder).state
        told = {choice.name: choice.sentence for choice in exportable_models(state)}
        for trial in state.scored_trials():
            assert ("ended early" in told[str(trial.number)]) == trial.behind
