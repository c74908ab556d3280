"""Small runs that are tuned, and programs that open their files without this program."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.dataset import Dataset
from core.export.exporters import export_run
from core.export.finished_run import finished_run
from core.json_reading import read_as
from core.tuning.events import RunFinished
from core.tuning.plan import Plan
from core.tuning.problem_setup import read_data
from core.tuning.results.model_metadata import model_metadata
from core.tuning.run_results import Results
from core.tuning.runs.best import best_of, keep_best
from core.tuning.runs.run_folder import RunFolder
from core.tuning.tune import tune


def tuned_run(path: Path, plan: Plan, dataset: Dataset | None = None, **options: Any) -> RunFolder:
    """The folder of a run that is tuned to its end."""
    folder = RunFolder.create(plan, path=path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in tune(plan, dataset or read_data(plan.data), folder=folder, **options):
            pass
    return folder


def write_table(path: Path, task: str) -> None:
    """Numbers with holes, categories of few and many levels, yes or no; one row has no target."""
    random = np.random.default_rng(5)
    table = pd.DataFrame(random.normal(size=(91, 4)), columns=["size", "age", "a b", "größe"])
    table["colour"] = random.choice(["red", "green", "blue"], 91)
    table["shop"] = np.random.default_rng(6).choice([f"shop {i}" for i in range(13)], 91)
    table["paid"] = random.choice(["yes", "no"], 91)
    pull = 2 * table["size"] - table["a b"] + (table["colour"] == "red") + random.normal(size=91)
    words, cuts = np.array(["low", "middle", "top"], dtype=object), [0.5]
    cuts = [-0.5, 1.5] if task == "multiclass" else cuts
    table["goal"] = 1e5 + 3e4 * pull if task == "regression" else words[np.digitize(pull, cuts)]
    table.loc[::11, ["age", "colour", "shop"]] = np.nan
    table.loc[7, "goal"] = np.nan
    table.to_csv(path, index=False)


def write_run(folder, dataset, model, course, results, rows, **metadata):
    """Everything that a run leaves: its model, metadata, and events, the results at their end."""
    keep_best(folder, model)
    takeaway = model_metadata(dataset, *rows, **metadata)
    folder.takeaway_path.write_text(takeaway.as_json(), encoding="utf-8")
    for event in (*course, RunFinished(results=read_as(Results, results))):
        folder.append(event)
    folder.close()
    return folder


def ensemble_of(settings: list[Any], weights: Sequence[float], **more: Any) -> dict[str, Any]:
    """The part of an average in the results of a run."""
    return {
        "members": list(range(len(settings))),
        "weights": list(weights),
        "scores": [0.9 - 0.01 * number for number in range(len(settings))],
        "settings": settings,
        "effective": 1 / sum(weight**2 for weight in weights),
        "kind": "tempered",
        **more,
    }


def exported(folder: RunFolder, path: Path, format: str | None = None) -> Path:
    """A file of a run, its kind by the ending or `format`."""
    return export_run(finished_run(folder), path, format)


def script_output(run_outside, script, folder, *arguments):
    """What a script prints where this program cannot be imported."""
    ran = run_outside(START, folder, str(script), *arguments)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


START = "import runpy; del sys.argv[0]; runpy.run_path(sys.argv[0], run_name='__main__')"

OPEN = """
import json, joblib, pandas as pd, skops.io
said = {}
for path in sys.argv[1:]:
    if path.endswith('.joblib'):
        model = joblib.load(path)
    else:
        model = skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))
    card = model.tunescope_
    rows = pd.read_csv(path.partition('-')[0] + '.csv', **card['read_csv'])
    rows = rows[rows[card['target']].notna()][card['features']]
    shares = model.predict_proba(rows).tolist() if hasattr(model, 'predict_proba') else None
    said[path] = [model.predict(rows).tolist(), shares]
print(json.dumps(said))
"""
WITHOUT_NUMBA = 'sys.modules["numba"] = None\n'
RUN = """
import contextlib, io, json, runpy, warnings
warnings.simplefilter('ignore')
said, paths = {}, sys.argv[1:]
for path in paths:
    sys.argv, out = [path], io.StringIO()
    with contextlib.redirect_stdout(out):
        runpy.run_path(path, run_name='__main__')
    said[path] = out.getvalue()
print(json.dumps(said))
"""
# Models whose leaves are added up, or that may be such: the sum alone is in single precision.
TREES = ("forest", "extra-trees", "boosting", "lightgbm", "xgboost", "catboost", "auto")


def check_outputs(outputs: dict[str, np.ndarray], run: RunFolder, rows: Any) -> None:
    """The outputs of an ONNX file against the run's own pipeline."""
    exact, pipeline = 1e-6 if run.plan.model in TREES else 1e-9, best_of(run)
    ours = pipeline.predict(rows)
    if len(outputs) == 1:  # numbers, in standard deviations
        np.testing.assert_allclose(outputs["prediction"], ours, rtol=0, atol=exact * np.std(ours))
        return
    name, method = "scores", "decision_function"
    if hasattr(pipeline, "predict_proba"):
        name, method = "probabilities", "predict_proba"
    degrees = getattr(pipeline, method)(rows)
    if degrees.ndim == 1:
        degrees = np.stack([-degrees, degrees], axis=1)
    assert list(outputs) == ["prediction", name]
    np.testing.assert_allclose(outputs[name], degrees, rtol=0, atol=exact)
    most = np.sort(degrees, axis=1)
    is_clear = most[:, -1] - most[:, -2] > 2 * exact  # trees may vote for two classes alike
    assert outputs["prediction"][is_clear].tolist() == ours[is_clear].tolist()
