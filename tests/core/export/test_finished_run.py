"""A finished run leaves: files by their names alone, no cells where none are to, or another model.

The chosen model is fitted as a person would, and the run stays as it was.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from exported_files import RUN, exported, script_output, tuned_run, write_table
from sklearn.base import clone

from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.errors import UnusableError
from core.estimators.optional_parts import is_installed
from core.export.exportable_models import exportable_models
from core.export.exporters import export_run
from core.export.finished_run import (
    file_name_of,
    finished_run,
    with_selected_model,
    without_examples,
)
from core.export.prediction import load_model, predict_file
from core.export.report.report_page import page_html
from core.tuning.events import (
    ImagesDrawn,
    RunFinished,
    Topic,
    TopicsFound,
    TrialFailed,
    TrialFinished,
)
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem, read_data
from core.tuning.results.training_rows import training_rows_of
from core.tuning.scores.metrics import codes_of, predict_all


@pytest.mark.parametrize("second_file", [True, False])
def test_a_file_is_named_without_its_folder(make_run, tmp_path, second_file):
    made = make_run("binary", "logistic", second_file=second_file)
    path = Path(made.dataset.source.path)
    assert file_name_of(replace(made.dataset.source, path="C:\\ann\\heart.csv")) == "heart.csv"
    for ending in (".json", ".py", ".html", ".skops", ".joblib"):
        content = exported(made.folder, tmp_path / f"out{ending}").read_bytes()
        assert str(path.parent).encode() not in content, ending
        assert path.name.encode() in content or ending in (".skops", ".joblib")


@pytest.mark.parametrize("kind", ["tagger", "folding"])
def test_a_report_without_examples_holds_no_row(request, tmp_path, kind):
    folder = request.getfixturevalue(kind).folder
    shown = export_run(finished_run(folder), tmp_path / "with.html").read_text()
    hidden = export_run(finished_run(folder, examples=False), tmp_path / "without.html").read_text()
    assert "An example" in shown
    assert "An example" not in hidden


WORDS = ("Ann Other", "zweiunddreissig", "crimson", "magenta")  # cells of the table below


def told_run(finish_run, folder):
    """A run whose findings, remarks, failures and prepared columns quote cells."""
    random = np.random.default_rng(0)
    lines = ["weight;colour;name;price"]
    for i, (weight, noise) in enumerate(random.normal(size=(120, 2))):
        said = f"{weight:.3f}".replace(".", ",") if i not in (3, 40) else WORDS[i == 40]
        cells = said, WORDS[2 + i % 2], f"id {i}", f"{2 * weight + noise:.3f}".replace(".", ",")
        lines.append(";".join(cells))
    path = folder / "table.csv"
    path.write_text("\n".join(lines))
    dataset = read_dataset(str(path), DataOptions(target="price"))
    made = finish_run(Plan(DataPlan(str(path), target="price"), "linear", "random"), dataset)
    run = finished_run(made.folder)
    remarks = ["Beside “Ann Other”, “colour” is fine."]
    with made.folder.hold_lock():
        why = "ValueError: could not convert string to float: 'zweiunddreissig'"
        made.folder.append(TrialFailed(number=7, reason=why))
        made.folder.append(RunFinished(results=replace(run.results, remarks=remarks)))
    return made


def test_no_cell_is_quoted_where_examples_are_to_stay(finish_run, run_outside, tmp_path):
    made = told_run(finish_run, tmp_path)
    runs = [finished_run(made.folder, examples) for examples in (False, True)]
    for ending, which in (
        *((ending, which) for ending in (".json", ".py") for which in ("default", "tuned")),
        (".html", "tuned"),
    ):
        hidden, shown = (
            export_run(with_selected_model(run, which), tmp_path / f"{run.allows_examples}{ending}")
            .read_text()
            for run in runs
        )  # fmt: skip
        # A script reads strays by its rule for numbers and names none.
        assert any(word in shown for word in WORDS) or ending == ".py"
        assert [word for word in WORDS if word in hidden] == []
        assert "colour" in hidden
    printed = script_output(run_outside, tmp_path / "False.py", tmp_path)
    assert f"tuned: {made.score:.6f}" in printed


@pytest.fixture
def marked_run(finish_run, tmp_path):
    """A run on a table whose every cell is found again wherever it is written."""
    random = np.random.default_rng(0)
    day = pd.Timestamp("1987-01-01") + pd.to_timedelta(random.integers(0, 900, 120), unit="D")
    table = pd.DataFrame(
        {
            "size": [float(f"{size:.3f}8371") for size in random.uniform(1, 9, 120)],
            "count": random.integers(70_000, 90_000, 120) * 1000 + 377,
            "colour": random.choice(["qzred", "qzgreen", "qzblue"], 120),
            "habit": random.choice(["qzsmoker", "qzother"], 120),
            "note": [f"qznote{row}" for row in range(120)],
            "day": day.strftime("%d.%m.%Y"),
        }
    )
    table.loc[[5, 50], "day"] = "qznever"
    table.loc[[7, 8, 9, 10], "colour"] = "qzrare", "qzrare", None, None
    table["goal"] = np.where(table["size"] + (table["colour"] == "qzred") > 5.4, "good", "bad")
    table.to_csv(tmp_path / "marked.csv", index=False)
    plan = Plan(DataPlan(str(tmp_path / "marked.csv"), target="goal"), "forest", "random", trials=2)
    dataset = read_data(plan.data)
    run = finished_run(finish_run(plan, dataset).folder)
    return replace(run, takeaway=replace(run.takeaway, training=training_rows_of(dataset))), table


def test_without_examples_no_cell_is_in_any_file_beside_the_model(
    marked_run, run_outside, tmp_path
):
    run, table = marked_run
    dates = pd.to_datetime(table["day"], dayfirst=True, errors="coerce").dropna()
    cells = {str(cell) for name in table if name != "goal" for cell in table[name].dropna()}
    cells = {*cells, *map(str, dates.dt.date)}

    def cells_in(run):
        folder = tmp_path / f"examples {run.allows_examples}"
        folder.mkdir()
        for ending in (".skops", ".json", ".html", ".py", ".mlflow"):
            export_run(run, folder / f"tuned{ending}")
        files = {path for path in folder.rglob("*") if path.suffix != ".skops" and path.is_file()}
        texts = {path.name: path.read_text(encoding="utf-8") for path in files}
        return {name: {c for c in cells if c in text} for name, text in texts.items()}

    hidden, shown = cells_in(without_examples(run)), cells_in(run)
    assert set().union(*hidden.values()) == set()
    # A script that finds the levels in the file trains the same model.
    printed = [
        script_output(run_outside, tmp_path / f"examples {is_shown}" / "tuned.py", tmp_path)
        for is_shown in (False, True)
    ]
    assert printed[0] == printed[1]
    assert f"tuned: {run.results.test[run.results.metric]:.6f}" in printed[0]
    for name in ("input_example.json", "tuned.skops.card.md", "README.md"):
        assert shown[name]


def test_a_report_without_examples_holds_no_pictures_and_words_of_topics(make_run):
    run = finished_run(make_run().folder)
    grey = np.linspace(0, 1, 4).tolist()
    drawn = ImagesDrawn(height=2, width=2, samples=[grey], originals=[grey], reconstructions=[grey])
    found = TopicsFound(count=1, documents=9, topics=[Topic(1.0, ["grandmother"], [0.5])])
    run = replace(run, events=[*run.events, drawn, found])
    shown, hidden = page_html(run), page_html(without_examples(run))
    assert "data:image" in shown
    assert "data:image" not in hidden
    assert "grandmother" in shown
    assert "grandmother" not in hidden
    assert "Their words are left out." in hidden


MODELS = {"binary": "logistic", "multiclass": "svm", "regression": "linear"}


def run_of(folder, task, strategy="random"):
    write_table(folder / f"{task}.csv", task)
    data = DataPlan(str(folder / f"{task}.csv"), target="goal")
    how = {"trials": 3} if strategy == "random" else {}
    plan = Plan(data, MODELS[task], strategy, folds=2, seed=1, **how)
    dataset = read_data(data)
    return finished_run(tuned_run(folder / f"{task}-{strategy}", plan, dataset)), dataset


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    # The run of a task and a strategy, made once; no test changes it or its data.
    folder = tmp_path_factory.mktemp("runs")
    return cache(partial(run_of, folder))


def fingerprints(folder):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.parametrize("task", list(MODELS))
def test_the_chosen_model_is_the_one_a_person_would_fit(runs, task):
    run, dataset = runs(task)
    before = fingerprints(run.folder.path)
    trial = next(event for event in run.events if isinstance(event, TrialFinished) and event.number)
    settings = {"default": run.results["default_setting"], str(trial.number): trial.setting}
    problem = build_problem(run.plan, dataset)
    rows = problem.fitted_rows
    assert len(rows) == dataset.rows  # as the tuned model
    X, y = dataset.features.iloc[rows], dataset.target[rows]
    for which, setting in settings.items():
        chosen = with_selected_model(run, which, dataset)
        alone = clone(problem.preparation())
        model = problem.estimator(setting).fit(alone.fit_transform(X, y), y)
        expected = model.predict(alone.transform(dataset.features))
        assert chosen.pipeline.predict(dataset.features).tolist() == expected.tolist()
        assert chosen.results["setting"] == setting
    known = with_selected_model(run, "default")
    assert known.results["test"] == run.results["default_test"]
    assert fingerprints(run.folder.path) == before


@pytest.mark.parametrize("task", list(MODELS))
def test_the_baseline_knows_shares_or_the_mean(runs, tmp_path, task):
    run, dataset = runs(task)
    chosen = with_selected_model(run, "baseline", dataset)
    y = dataset.target[build_problem(run.plan, dataset).fitted_rows]
    for ending in (".skops", ".joblib", ".onnx"):
        if ending == ".onnx" and not is_installed("onnx"):
            continue
        path = export_run(chosen, tmp_path / f"baseline{ending}")
        said = predict_file(path, run.plan.data.file, trust=True)
        if task == "regression":
            assert said["prediction"].tolist() == pytest.approx([y.mean()] * len(said))
            continue
        for label in dataset.classes:
            share = said[f"probability of {label}"].to_numpy()
            np.testing.assert_allclose(share, np.mean(y == label), atol=1e-12)
        labels, counts = np.unique(y, return_counts=True)
        assert set(said["prediction"]) == {labels[counts.argmax()]}


def test_a_trial_has_its_validation_score_and_no_test_score(runs, tmp_path):
    run, dataset = runs("binary")
    found = {choice.name: choice for choice in exportable_models(run.state)}
    assert list(found)[:3] == ["tuned", "default", "baseline"]
    scores = [choice.validation for choice in found.values() if choice.name.isdigit()]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    chosen = with_selected_model(run, "2", dataset)
    assert chosen.results["test"] == {}
    assert chosen.results["validation"] == {"accuracy": found["2"].validation}
    path = export_run(chosen, tmp_path / "trial.skops")
    card = load_model(path)[1]
    assert (card["exported"], card["test"]) == ("2", {})
    document = json.loads(export_run(chosen, tmp_path / "trial.json").read_text())
    assert document["exported"] == "2"
    assert "gain" not in document["scores"]
    assert any("test set has not judged it" in sentence for sentence in document["remarks"])


def test_a_penalty_learner_offers_what_it_is_compared_with(runs, tmp_path):
    run, dataset = runs("regression", "mm")
    names = [choice.name for choice in exportable_models(run.state)]
    assert names == ["tuned", "default", "baseline"]
    chosen = with_selected_model(run, "default", dataset)
    assert not chosen.has_learned_penalties
    export_run(chosen, tmp_path / "default.json")
    assert with_selected_model(run, "tuned") is run


def test_what_cannot_be_taken_away_is_one_sentence(runs, tmp_path):
    run, dataset = runs("binary")
    for which in ("7", "best", ""):
        with pytest.raises(UnusableError, match="choose tuned, default, baseline, or the number"):
            with_selected_model(run, which, dataset)
    with pytest.raises(UnusableError, match="a report tells of the whole run"):
        export_run(with_selected_model(run, "default", dataset), tmp_path / "report.html")
    source = replace(dataset.source, fingerprint="another")
    with pytest.raises(UnusableError, match="the data has changed since this run"):
        with_selected_model(run, "default", replace(dataset, source=source))


def test_the_script_trains_the_chosen_model(runs, run_outside):
    scripts, expected = [], []
    for task in MODELS:
        run, dataset = runs(task)
        problem, metric = build_problem(run.plan, dataset), run.results["metric"]
        for which in ("default", "baseline", "1"):
            chosen = with_selected_model(run, which, dataset)
            name = f"{task}_{which}.py"
            folder = Path(run.plan.data.file).parent
            text = export_run(chosen, folder / name).read_text()
            compile(text, name, "exec")
            assert "tuned = " not in text
            scripts.append(name)
            X, y = problem.test_data
            fresh = clone(chosen.pipeline).fit(*problem.training_data)
            said = predict_all(fresh, X, dataset.classes)
            score = problem.metric.score(codes_of(y, dataset.classes), said)
            expected.append(f"{score:.6f}")
            if which != "1":
                known = run.results[f"{which}_test"][metric]
                assert f"{known:.6f}" == expected[-1]
                assert f"{known:.6f}" in text.partition('"""')[2]
    ran = run_outside(RUN, folder, *scripts)
    assert ran.returncode == 0, ran.stderr
    lines = "".join(json.loads(ran.stdout).values()).splitlines()
    assert [line.rpartition(" ")[2] for line in lines] == expected
