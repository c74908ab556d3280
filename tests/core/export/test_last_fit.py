"""The model that is taken away learned from all rows: in the folder, in exports, in the script."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from exported_files import tuned_run

from core.estimators.optional_parts import is_installed
from core.export.exporters import export_from_folder
from core.export.prediction import predict_file
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import read_data
from core.tuning.results.model_metadata import read_metadata
from core.tuning.runs.best import best_of
from core.tuning.runs.run_folder import RunFolder

RUN = """
import contextlib, io, json, runpy, warnings
warnings.simplefilter("ignore")
said = {}
for folder in sys.argv[1].split():
    sys.argv = ["tuned.py", "data.csv"]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        made = runpy.run_path(f"{folder}/tuned.py", run_name="__main__")
    said[folder] = [out.getvalue(), made["tuned"].predict(made["X"]).tolist()]
print(json.dumps(said))
"""
CASES: dict[str, dict[str, Any]] = {
    "learned": {"strategy": "mm", "evaluation": "test"},
    "each": {"strategy": "mm", "evaluation": "test", "groups": "each"},
    "nested": {"strategy": "mm", "groups": "column"},
    "tried": {"strategy": "random"},
    "judged": {"strategy": "random", "refit": False},
    "averaged": {"strategy": "eb-hyp", "trials": 20, "options": {"judged": "validation"}},
}


def csv_file(path: Path, rows: int = 150) -> None:
    """Numbers, and a category with eight levels of one row each."""
    random = np.random.default_rng(4)
    table = pd.DataFrame(random.normal(size=(rows, 3)), columns=["a", "b", "c"])
    table["town"] = random.choice(["Ulm", "Bonn", "Trier"], rows)
    rare = random.choice(rows, 8, replace=False)
    table.loc[rare, "town"] = [f"Zug {i}" for i in range(8)]
    pull = 2 * table["a"] + (table["town"] == "Ulm") + random.normal(size=rows)
    table.assign(y=10 + pull).to_csv(path, index=False)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[RunFolder, dict[str, Any]]]:
    """{case: run folder and results}."""
    place = tmp_path_factory.mktemp("runs")
    csv_file(place / "data.csv")
    data = DataPlan(str(place / "data.csv"), target="y")
    dataset, made = read_data(data), {}
    for name, changes in CASES.items():
        plan = Plan(data, "linear", **{"trials": 3, "folds": 2, "seed": 5, **changes})
        folder = tuned_run(place / name, plan, dataset)
        made[name] = folder, folder.all_events()[-1].results
    return made


def test_the_script_prints_the_test_scores_and_ends_with_the_kept_model(
    runs: Any, run_outside: Any
) -> None:
    place = runs["tried"][0].path.parent
    for folder, _ in runs.values():
        export_from_folder(folder, folder.path / "tuned.py")
    ran = run_outside(RUN, place, " ".join(runs))
    assert ran.returncode == 0, ran.stderr
    table = pd.read_csv(place / "data.csv")
    for name, (printed, predicted) in json.loads(ran.stdout).items():
        folder, results = runs[name]
        for score in (results["test"], results["default_test"]):
            assert f"{score[results['metric']]:.6f}" in printed, (name, printed)
        assert ("fitted on all 150 rows" in printed) == (name not in ("nested", "judged"))
        kept = best_of(folder)
        np.testing.assert_allclose(predicted, kept.predict(table), rtol=1e-5, err_msg=name)


def test_more_rows_may_have_columns_of_their_own(runs: Any) -> None:
    takeaway = read_metadata(runs["each"][0].path)
    others = takeaway.judged["penalties"]
    new = [name for name in takeaway.output_names if name not in others]
    assert new
    assert all(name.startswith("town=Zug ") for name in new)
    # All penalties of numbers move with the noise variance; those of ridge regression stay.
    scale = takeaway.penalties["a"] / others["a"]
    for name in new:
        assert takeaway.penalties[name] == pytest.approx(scale * np.median(list(others.values())))


@pytest.mark.parametrize("name", CASES)
def test_every_file_is_of_the_kept_model(runs: Any, tmp_path: Path, name: str) -> None:
    folder, _ = runs[name]
    file = folder.path.parent / "data.csv"
    kept = best_of(folder).predict(pd.read_csv(file))
    for ending in (".skops", ".joblib", *([".onnx"] if is_installed("onnx") else [])):
        path = export_from_folder(folder, tmp_path / f"model{ending}")
        said = predict_file(path, file, trust=True)["prediction"]
        np.testing.assert_allclose(said, kept, rtol=1e-4, err_msg=ending)
    numbers = json.loads(export_from_folder(folder, tmp_path / "parameters.json").read_text())
    assert numbers["scores"]["evaluation"]["fitted"] == ("train" if name == "judged" else "all")
    if name != "judged":
        assert numbers["data"]["fitted_rows"] == 150
