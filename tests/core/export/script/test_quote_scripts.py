"""Scripts and models read a table's quotes as the program did, also where rows were drawn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.export.exporters import export_from_folder
from core.export.prediction import predict_file
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import read_data
from core.tuning.runs.run_folder import RunFolder
from core.tuning.tune import tune

WRITTEN = {
    "letters": '"open {}',
    "outer": '"said "{}" aloud, or so"',
    "escaped": '"said \\"{}\\" aloud, or so"',
}


@pytest.mark.parametrize("reading", WRITTEN)
@pytest.mark.parametrize("rows", [0, 150])
def test_the_same_scores(run_outside: Any, tmp_path: Path, reading: str, rows: int) -> None:
    random = np.random.default_rng(0)
    lines = ["size,word,y"]
    for i in range(200):
        word = random.choice(["red", "green", "blue"])
        cell = WRITTEN[reading].format(word) if i % 3 else word
        label = "yes" if (word == "red") ^ (i % 9 == 0) else "no"
        lines.append(f"{random.normal():.3f},{cell},{label}")
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    plan = Plan(DataPlan(str(path), target="y", rows=rows), "logistic", "random", trials=1)
    dataset = read_data(plan.data)
    assert dataset.rows == (rows or 200)
    run = RunFolder.create(plan, path=tmp_path / "run")
    for _ in tune(plan, dataset, folder=run):
        pass
    export_from_folder(run, tmp_path / "script.py")
    command = "import runpy, sys; sys.argv = ['x', sys.argv[2]]; runpy.run_path('script.py')"
    ran = run_outside(command, tmp_path, "script.py", str(path))
    assert ran.returncode == 0, ran.stderr
    scores = json.loads(export_from_folder(run, tmp_path / "numbers.json").read_text())["scores"]
    (metric,) = {line.split(" on ")[0] for line in ran.stdout.splitlines() if " on test" in line}
    assert f"tuned: {scores['test'][metric]:.6f}" in ran.stdout

    model = export_from_folder(run, tmp_path / "model.skops")
    answers = predict_file(model, path)["prediction"].tolist()
    assert len(answers) == 200
    two = [line.rpartition(",")[0] for line in (lines[0], lines[8], lines[9])]
    (tmp_path / "new.csv").write_text("\n".join(two) + "\n")
    assert predict_file(model, tmp_path / "new.csv")["prediction"].tolist() == answers[7:9]
