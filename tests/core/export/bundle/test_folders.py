"""Folders of topics and of deep latent Gaussian models: alone with numpy they say the same."""

import base64
import json
import re
import zipfile

import numpy as np
import pandas as pd
import pytest
from exported_files import exported
from folder_runs import dlgm_run, topic_run
from PySide6.QtGui import QImage
from scipy.special import psi
from sklearn.datasets import load_svmlight_file

from core.errors import UnusableError
from core.export.bundle.topic_prediction import exp_digamma
from core.export.prediction import predict_file
from core.tuning.runs.best import best_of

# Everything but Python's own library and numpy is out of reach (pandas reads tables).
RUN = """
import runpy
class Missing:
    names = "pandas,scipy,sklearn,joblib,skops,numba,jax,jaxlib".split(",")
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.names:
            raise ModuleNotFoundError(f"{name} is not installed here", name=name)
sys.meta_path.insert(0, Missing())
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
RUN_TABLES = RUN.replace('"pandas,', '"')


def unpacked(run, path):
    """The folder in the exported zip file."""
    exported(run, path)
    with zipfile.ZipFile(path) as archive:
        archive.extractall(path.parent)
        return path.parent / archive.namelist()[0].split("/")[0]


def predicted(run_outside, folder, file, run=RUN):
    ran = run_outside(run, folder, "predict.py", file, "out.csv", bare=True)
    assert ran.returncode == 0, ran.stderr
    table = pd.read_csv(folder / "out.csv")
    start = next(i for i, name in enumerate(table) if name in ("topic 1", "prediction"))
    return table.iloc[:, start:]  # behind the file's own columns


@pytest.mark.parametrize("kind", ["counts", "average", "Chinese"])
def test_topics_are_those_of_the_estimator(run_outside, tmp_path, kind):
    members = 3 if kind == "average" else 1
    run = topic_run(tmp_path, members=members, counts=kind == "counts", chinese=kind == "Chinese")
    folder, pipeline = unpacked(run, tmp_path / "topics.zip"), best_of(run)
    file = tmp_path / ("counts.libsvm" if kind == "counts" else "texts.csv")
    if kind == "counts":
        raw = load_svmlight_file(str(file), n_features=20)[0]
    else:
        raw = pd.read_csv(file, sep="," if kind == "average" else "\x1f")[["text"]]
    if kind == "Chinese":
        raw.loc[3, "text"] = "今天, 港口的风暴；a new one, 雨 望远镜"
        file = tmp_path / "new.csv"
        file.write_text("\n".join(["text", *raw["text"]]) + "\n", encoding="utf-16")
        assert "港口" in pipeline[0].named_steps["columns"].vocabulary_
    said = predicted(run_outside, folder, str(file))
    X = pipeline[0].transform(raw)
    shares, completion = pipeline[-1].transform(X), pipeline[-1].completion(X)
    np.testing.assert_allclose(said.iloc[:, :-2].to_numpy(), shares, atol=1e-8)
    np.testing.assert_allclose(said.iloc[:, -2:].to_numpy(), completion, rtol=1e-8, atol=1e-10)
    assert len(said.columns) == shares.shape[1] + 2
    here = predict_file(tmp_path / "topics.zip", file)
    np.testing.assert_allclose(here.to_numpy(), said.to_numpy(), rtol=1e-12)


@pytest.mark.parametrize("members", [1, 3])
def test_classes_are_those_of_the_estimator(run_outside, tmp_path, members):
    run = dlgm_run(tmp_path, members=members)
    folder = unpacked(run, tmp_path / "causes.zip")
    table = pd.read_csv(tmp_path / "causes.csv", sep=";", decimal=",")
    table.loc[0, "colour"] = "never seen"
    table.loc[1, "day"] = "no date"
    table.loc[2, ["size", "weight", "paid", "colour", "day"]] = None
    table.to_csv(tmp_path / "new.csv", index=False, sep=";", decimal=",")
    said = predicted(run_outside, folder, str(tmp_path / "new.csv"), RUN_TABLES)
    pipeline = best_of(run)
    shares = pipeline.predict_proba(table[pipeline[0][0].feature_names_in_])
    np.testing.assert_allclose(said.iloc[:, 1:].to_numpy(), shares, atol=1e-10)
    labels = pipeline.classes_[shares.argmax(axis=1)]
    assert said["prediction"].tolist() == labels.tolist()
    options = {"dtype": str, "keep_default_na": False}
    new = pd.read_csv(tmp_path / "new.csv", sep=";", **options)
    pd.testing.assert_frame_equal(pd.read_csv(folder / "out.csv", **options)[list(new)], new)
    assert np.ptp(shares) > 0.1
    here = predict_file(tmp_path / "causes.zip", tmp_path / "new.csv")
    pd.testing.assert_frame_equal(here, predict_file(folder / "model.npz", tmp_path / "new.csv"))
    assert here["prediction"].tolist() == said["prediction"].tolist()
    new["paid"], new["colour"] = new["paid"].str.upper(), new["colour"] + "\u00a0"
    new["day"] = pd.to_datetime(table["day"], errors="coerce", format="%d.%m.%Y").astype(str)
    new["size"] = new["size"].str.replace("-", "\u2212")
    new.to_csv(tmp_path / "spelled.csv", index=False, sep=";")
    alike = predicted(run_outside, folder, str(tmp_path / "spelled.csv"), RUN_TABLES)
    pd.testing.assert_frame_equal(alike, said)


def test_classes_of_libsvm_lines(tmp_path):
    run = dlgm_run(tmp_path, libsvm=True)
    said = predict_file(exported(run, tmp_path / "causes.zip"), tmp_path / "causes.libsvm")
    X = load_svmlight_file(str(tmp_path / "causes.libsvm"), n_features=7)[0]
    shares = best_of(run).predict_proba(X)
    np.testing.assert_allclose(said.iloc[:, 1:].to_numpy(), shares, atol=1e-10)


def test_the_folder_says_what_is_in_it_and_refuses_in_a_sentence(run_outside, tmp_path):
    run = topic_run(tmp_path)
    folder = unpacked(run, tmp_path / "topics.zip")
    names = {path.name for path in folder.iterdir()}
    assert names == {"README.md", "model.npz", "predict.py", "topics.csv", "words.csv"}
    readme = (folder / "README.md").read_text()
    assert "# Average of 3 models" in readme
    assert "value: -2.5" in readme
    words = pd.read_csv(folder / "words.csv", index_col="word")
    np.testing.assert_allclose(words.sum(), 1.0, atol=2e-3)
    assert "naïve" in words.index
    topics = pd.read_csv(folder / "topics.csv")
    assert topics["share of all words"].sum() == pytest.approx(1.0, abs=1e-3)
    assert topics["share of all words"].is_monotonic_decreasing
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    ran = run_outside(RUN, folder, "predict.py", str(tmp_path / "other.csv"), bare=True)
    assert (ran.returncode, "the column “text” is missing" in ran.stderr) == (2, True)
    with pytest.raises(UnusableError, match="the column “text” is missing"):
        predict_file(tmp_path / "topics.zip", tmp_path / "other.csv")
    best = words[topics["topic"][0]].sort_values(ascending=False).index[0]
    assert topics["likeliest words"][0].split()[0] == best


def test_damaged_and_strange_files_give_one_sentence(tmp_path):
    (tmp_path / "model.zip").write_bytes(b"nothing of the kind")
    with zipfile.ZipFile(tmp_path / "empty.zip", "w") as archive:
        archive.writestr("readme.txt", "no model")
    (tmp_path / "new.csv").write_text("text\nhello there\n")
    for name in ("model.zip", "empty.zip"):
        with pytest.raises(UnusableError, match=r"no .zip model file, or it is damaged"):
            predict_file(tmp_path / name, tmp_path / "new.csv")


@pytest.mark.parametrize("make", [topic_run, dlgm_run])
def test_numbers_and_report_of_an_average(tmp_path, make):
    run = make(tmp_path)
    document = json.loads(exported(run, tmp_path / "run.json").read_text())
    assert [member["weight"] for member in document["average"]["members"]] == [0.2, 0.5, 0.3]
    page = exported(run, tmp_path / "run.html").read_text()
    assert "Who is in the average?" in page
    assert ("ship, wave" in page) == (make is topic_run)
    pictures = re.findall(r'<img src="data:image/png;base64,([^"]+)"', page)
    assert len(pictures) == (0 if make is topic_run else 4)
    for picture in pictures[:1]:
        image = QImage.fromData(base64.b64decode(picture))
        greys = [image.pixelColor(x, y).red() for y in range(2) for x in range(3)]
        assert greys == [0, 64, 128, 191, 255, 0]


def test_digamma_against_scipy():
    x = np.geomspace(0.01, 1e5, 400)
    np.testing.assert_allclose(exp_digamma(x), np.exp(psi(x)), rtol=1e-11)
