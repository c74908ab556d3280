"""Exports of an average of models of tables: the same predictions without the program."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exported_files import OPEN, script_output

from core.export.exporters import export_from_folder
from core.tuning.runs.best import best_of

CASES: dict[str, tuple[str, str, list[tuple[dict[str, Any], float]]]] = {
    "machines": ("binary", "svm", [({"C": 0.3}, 0.6), ({"gamma": 0.03}, 0.4)]),
    "votes": (
        "binary",
        "vote7",
        [({"weight_svm": 0.2}, 0.7), ({"weight_pa": 0.0, "weight_bayes": 0.5}, 0.3)],
    ),
    "numbers": (
        "regression",
        "boosting",
        [({"learning_rate": 0.05, "max_iter": 10}, 0.75), ({"max_iter": 12}, 0.25)],
    ),
}


def test_models_and_a_script_do_the_same_without_the_program(
    make_run: Callable[..., Any], run_outside: Any, tmp_path: Path
) -> None:
    made, files = {}, []
    for name, (task, model, members) in CASES.items():
        part = name == "numbers"  # the members learned from half of the training rows
        made[name] = make_run(task, model, members=members, part=part, folder=tmp_path / name)
        (tmp_path / f"{name}.csv").write_bytes((tmp_path / name / "data.csv").read_bytes())
        for ending in ("skops", "joblib"):
            files.append(f"{name}-.{ending}")
            export_from_folder(made[name].folder, tmp_path / files[-1])
    ran = run_outside(OPEN, tmp_path, *files)
    assert ran.returncode == 0, ran.stderr
    for file, (answers, shares) in json.loads(ran.stdout).items():
        run = made[file.partition("-")[0]]
        pipeline, X = best_of(run.folder), run.dataset.features
        if shares is None:
            np.testing.assert_allclose(answers, pipeline.predict(X), rtol=1e-12)
            continue
        assert answers == pipeline.predict(X).tolist()
        np.testing.assert_allclose(shares, pipeline.predict_proba(X), rtol=1e-12, atol=1e-12)
    script = export_from_folder(made["numbers"].folder, tmp_path / "numbers" / "tuned.py")
    printed = script_output(run_outside, script, tmp_path / "numbers")
    scores = [line.rpartition(" ")[2] for line in printed.splitlines()]
    assert scores == [f"{made['numbers'].score:.6f}", f"{made['numbers'].default_score:.6f}"]


def test_script_numbers_and_report_name_the_members(
    make_run: Callable[..., Any], tmp_path: Path
) -> None:
    members = [({"C": 0.1}, 0.5), ({"C": 3.0}, 0.3), ({}, 0.2)]
    folder = make_run("multiclass", "logistic", members=members).folder
    text = export_from_folder(folder, tmp_path / "tuned.py").read_text()
    assert text.startswith('"""Average of 3 models, logistic regression, for data')
    assert text.count('("trial ') == 3
    assert 'VotingClassifier(members, voting="soft", weights=weights)' in text
    average = json.loads(export_from_folder(folder, tmp_path / "run.json").read_text())["average"]
    assert [member["weight"] for member in average["members"]] == [0.5, 0.3, 0.2]
    assert [member["parameters"]["C"] for member in average["members"]] == [0.1, 3.0, 1.0]
    assert average["members"][1]["trial"] == 1
    assert average["members"][1]["score"] == pytest.approx(0.89)
    assert average["left_out"][0]["trial"] == 9
    page = export_from_folder(folder, tmp_path / "run.html").read_text()
    assert "Who is in the average?" in page
    assert "Is the average better than the single best?" in page
    assert "Trial 9 is left out of the average: it failed." in page
