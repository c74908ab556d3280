"""Small runs that are tuned, and programs that open their files without this program."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from core.datasets.dataset import Dataset
from core.tuning.plan import Plan
from core.tuning.problem_setup import read_data
from core.tuning.runs.best import best_of
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


def script_output(
    run_outside: Callable[..., Any], script: Path, folder: Path, *arguments: str
) -> str:
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
# Models whose leaves are added up: the sum alone is in single precision.
TREES = ("forest", "extra-trees", "boosting", "lightgbm", "xgboost", "catboost")


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
