"""Averages of taggers and of folders taken away: npz, JSON and scripts say the same."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from structured_runs import Run, averaged_run, crf_run, rna_run

from core.errors import UnusableError
from core.export.bundle.fold_prediction import structure_confidence
from core.export.exporters import export_from_folder
from core.export.files import npz_file
from core.export.prediction import predict_file

SCRIPT = """
import runpy
class Missing:
    names = "pandas,scipy,sklearn,joblib,skops,numba".split(",")
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.names:
            raise ModuleNotFoundError(f"{name} is not installed here", name=name)
sys.meta_path.insert(0, Missing())
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.fixture(scope="module", params=["sequence", "structure"])
def average(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp(request.param)
    make = crf_run if request.param == "sequence" else rna_run
    return averaged_run(make(folder / "one"), folder / "average")


def compare(average: Run, said: pd.DataFrame) -> None:
    """The table of predictions against the averaged estimator."""
    X, labels = average.features, average.model.predict(average.features).tolist()
    if average.target == "tag":
        assert said["prediction"].tolist() == labels
        shares = average.model.predict_proba(X)
        probabilities = said.filter(like="probability of").to_numpy(dtype=float)
        np.testing.assert_allclose(probabilities, shares, atol=1e-12)
        return
    assert said["structure"].tolist() == labels
    pairs = zip(average.model.pair_probabilities(X), labels, strict=True)
    sure = [structure_confidence(P, structure)[0] for P, structure in pairs]
    np.testing.assert_allclose(said["expected accuracy"], sure, atol=1e-12)


@pytest.mark.parametrize("ending", [".npz", ".json"])
def test_opened_again(average: Run, tmp_path: Path, ending: str) -> None:
    path = export_from_folder(average.folder, tmp_path / f"model{ending}")
    average.table.to_csv(tmp_path / "new.csv", index=False)
    compare(average, predict_file(path, tmp_path / "new.csv"))


def test_a_script_with_numpy_alone(
    average: Run, run_outside: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    script = export_from_folder(average.folder, tmp_path / "predict.py")
    average.table.to_csv(tmp_path / "new.csv", index=False)
    ran = run_outside(SCRIPT, tmp_path, script.name, "new.csv", "out.csv")
    assert ran.returncode == 0, ran.stderr
    # The person's own table comes first; names that it has already are numbered.
    answers = pd.read_csv(tmp_path / "out.csv").iloc[:, average.table.shape[1] :]
    compare(average, answers.rename(columns=lambda name: name.removesuffix(" (2)")))


def test_shares_that_do_not_fit_are_refused(average: Run, tmp_path: Path) -> None:
    path = export_from_folder(average.folder, tmp_path / "model.npz")
    arrays = npz_file.load_arrays(path)
    assert int(arrays["format"]) == 2
    for shares in (np.array([0.5, 0.5]), np.array([0.5, 0.6, -0.1])):
        path.write_bytes(npz_file.npz_bytes({**arrays, "shares": shares}))
        with pytest.raises(UnusableError, match="the shares"):
            npz_file.load_arrays(path)
