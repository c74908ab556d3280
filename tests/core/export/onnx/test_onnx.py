"""ONNX exports: an ONNX runtime predicts what the pipeline predicts, from raw columns.

test_every_export.py has every model of tables; here are averages, settings, names and columns.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from exported_files import check_outputs, exported
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import Pipeline

from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.errors import UnusableError
from core.estimators import optional_parts
from core.export.onnx import onnx_file
from core.export.prediction import predict_file
from core.extras import install_command
from core.tuning.plan import DataPlan, Plan

pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")


@pytest.fixture
def compare(tmp_path):
    # The outputs of a run's file against its own pipeline.

    def check(made, *tables):
        path = exported(made.folder, tmp_path / "model.onnx")
        for rows in tables or (made.dataset.features,):
            check_outputs(onnx_file.OnnxModel(path).outputs(rows), made.folder, rows)
        return path

    return check


KNN = [(1, "distance", False), (2, "distance", True), (1, "uniform", True), (2, "uniform", False)]
# A cost of 1000 multiplies every rounding of the kernel by a thousand.
EXTREME = {
    "svm": {"C": 1000.0, "gamma": 0.01, "epsilon": 1e-3},
    "mlp": {"first_layer": 30, "second_layer": 20, "learning_rate_init": 0.1},
    "boosting": {"max_iter": 300},
}
RUNS = [
    ("multiclass", "logistic", [({"C": 0.1}, 0.5), ({"C": 3.0}, 0.3), ({}, 0.2)], False),
    ("binary", "boosting", [({"max_iter": 10}, 0.6), ({"learning_rate": 0.03}, 0.4)], False),
    ("binary", "svm", [({"C": 0.3}, 0.6), ({"gamma": 0.03}, 0.4)], False),
    ("regression", "mlp", [({"alpha": 0.1}, 0.75), ({}, 0.25)], False),
    ("regression", "auto", [({"model": "mlp"}, 0.5), ({"model": "linear"}, 0.5)], False),
    *(
        ("multiclass", "knn", [({"p": p, "weights": weights, "n_neighbors": 4}, 1.0)], libsvm)
        for p, weights, libsvm in KNN
    ),
    *(("regression", model, setting, False) for model, setting in EXTREME.items()),
]


@pytest.mark.parametrize(("task", "model", "how", "libsvm"), RUNS)
def test_averages_neighbours_and_extreme_settings(make_run, compare, task, model, how, libsvm):
    members = how if isinstance(how, list) else ()
    compare(make_run(task, model, {} if members else how, members=members, libsvm=libsvm))


@pytest.mark.parametrize("libsvm", [False, True])
@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_a_machine_without_probabilities_gives_labels_and_scores(
    make_run, compare, tmp_path, task, libsvm
):
    path = compare(make_run(task, "svm", libsvm=libsvm))
    file = tmp_path / ("data.libsvm" if libsvm else "data.csv")
    assert list(predict_file(path, file)) == ["prediction"]


NAMES = ["prediction", "probabilities", "scores", "flat", "prepared", "constant_0", "rows", "X"]
NAMES += ["column prediction", "tunescope:0", "tunescope:prepare_0", "two words", "größe 大", " "]


@pytest.mark.parametrize("task", ["binary", "regression"])
def test_columns_of_any_name(finish_run, compare, tmp_path, task):
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(80, len(NAMES))), columns=NAMES)
    table[""] = random.choice(["p", "q"], 80)
    goal = table.iloc[:, 0] - table.iloc[:, 8] + (table[""] == "p")
    table["goal"] = goal if task == "regression" else np.where(goal > 0, "up", "down")
    file = tmp_path / "names.csv"
    table.to_csv(file, index=False)
    dataset = read_dataset(str(file), DataOptions(target="goal"))
    model = "linear" if task == "regression" else "logistic"
    made = finish_run(Plan(DataPlan(str(file), target="goal"), model, "random"), dataset)
    path = compare(made)
    opened = onnx_file.OnnxModel(path)
    columns = list(opened.card["inputs"].values())
    assert columns == dataset.feature_names
    kept = [column for name, column in opened.card["inputs"].items() if name == column]
    assert set(columns) - set(kept) <= {"prediction", "probabilities", "scores", "", " "}
    by_skops = predict_file(exported(made.folder, tmp_path / "model.skops"), file)
    assert predict_file(path, file)["prediction"].tolist() == pytest.approx(
        by_skops["prediction"].tolist()
    )


@pytest.mark.parametrize("threshold", [0.2, 0.85])
def test_a_threshold_between_two_classes_is_kept(threshold):
    random = np.random.default_rng(3)
    rows = pd.DataFrame(random.normal(size=(200, 3)), columns=["a", "b", "c"])
    y = np.where(rows["a"] + random.normal(size=200) > 0, "yes", "no")
    prepare = Pipeline(
        [("columns", ColumnTransformer([("number complete", SimpleImputer(), list(rows))]))]
    )
    model = FixedThresholdClassifier(
        LogisticRegression(), threshold=threshold, pos_label="yes", response_method="predict_proba"
    )
    pipeline = Pipeline([("prepare", prepare), ("model", model)]).fit(rows, y)
    bytes_of_it = onnx_file.onnx_model(pipeline).SerializeToString()
    session = runtime.InferenceSession(bytes_of_it, providers=["CPUExecutionProvider"])
    columns = {name: rows[[name]].to_numpy() for name in rows}
    said, shares = session.run(["prediction", "probabilities"], columns)
    assert said.tolist() == pipeline.predict(rows).tolist()
    assert said.tolist() != np.where(shares[:, 1] >= 0.5, "yes", "no").tolist()
    np.testing.assert_allclose(shares, pipeline.predict_proba(rows), atol=1e-12)


def awkward(path, cuts, rows=400):
    """Dates, yes/no with holes, rare and missing categories, numbers beyond single precision."""
    random = np.random.default_rng(1)
    towns = [*["Aa", "Bb", "Cc"] * 60, "naïve", "x,y", "rare one", "rare two"]
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(random.integers(0, 900, rows), unit="D")
    size = random.normal(size=rows)
    big = 16_777_216.0 + np.arange(rows) % 7
    pull = size + (big - big.mean()) / 2
    table = pd.DataFrame(
        {
            "day": day.strftime("%d.%m.%Y"),
            "paid": random.choice(["yes", "no", ""], rows),
            "town": random.choice(towns, rows),
            "street": random.choice(["A", "B", "C", ""], rows),
            "size": np.where(random.random(rows) < 0.1, np.nan, size),
            "big": big,
            "goal": np.array(["down", "up", "top"])[np.digitize(pull, cuts)],
        }
    )
    table.to_csv(path, index=False)


@pytest.mark.parametrize(
    ("model", "cuts"), [("logistic", [0]), ("forest", [0]), ("forest", [0, 1])]
)
def test_awkward_columns(finish_run, compare, tmp_path, model, cuts):
    file = tmp_path / "awkward.csv"
    awkward(file, cuts)
    dataset = read_dataset(str(file), DataOptions(target="goal"))
    assert {c.kind for c in dataset.columns if c.role == "feature"} >= {"date", "yes/no"}
    made = finish_run(Plan(DataPlan(str(file), target="goal"), model, "random"), dataset)
    # What was never seen: a new town, no date at all, everything missing.
    strange = dataset.features.head(4).copy()
    strange.loc[strange.index[0], "town"] = "never seen"
    strange.loc[strange.index[1], "day"] = "no date"
    strange.loc[strange.index[2]] = np.nan
    strange.loc[strange.index[3], "paid"] = "perhaps"
    compare(made, dataset.features, strange)


def test_one_input_a_column_with_its_name(make_run, tmp_path):
    made = make_run()
    path = exported(made.folder, tmp_path / "model.onnx")
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    inputs = {taken.name: (taken.type, taken.shape) for taken in session.get_inputs()}
    assert list(inputs) == made.dataset.feature_names
    assert inputs["colour"] == ("tensor(string)", ["N", 1])
    assert inputs["age"] == ("tensor(double)", ["N", 1])
    assert session.get_modelmeta().description == onnx_file.INPUTS
    assert [(out.name, out.shape) for out in session.get_outputs()] == [
        ("prediction", ["N"]),
        ("probabilities", ["N", 2]),
    ]


@pytest.mark.parametrize("libsvm", [False, True])
def test_predicts_files(make_run, tmp_path, libsvm):
    made = make_run("multiclass", "logistic", libsvm=libsvm)
    file = tmp_path / ("data.libsvm" if libsvm else "data.csv")
    by_onnx = predict_file(exported(made.folder, tmp_path / "model.onnx"), file)
    by_skops = predict_file(exported(made.folder, tmp_path / "model.skops"), file)
    assert list(by_onnx) == list(by_skops)
    assert by_onnx["prediction"].tolist() == by_skops["prediction"].tolist()
    np.testing.assert_allclose(
        by_onnx.iloc[:, 1:].to_numpy(), by_skops.iloc[:, 1:].to_numpy(), atol=1e-9
    )


@pytest.mark.parametrize("members", [(), [({}, 1.0)]])
def test_a_vote_by_labels_is_refused_in_a_sentence(make_run, tmp_path, members):
    made = make_run("binary", "vote7", members=members)
    with pytest.raises(UnusableError, match="ONNX has no counterpart of this kind of model"):
        exported(made.folder, tmp_path / "model.onnx")
    assert not (tmp_path / "model.onnx").exists()


def test_without_the_extra_it_says_what_to_install(make_run, tmp_path, monkeypatch):
    real = optional_parts.importlib.import_module

    def missing(name, package=None):
        if name.startswith("onnx"):
            raise ModuleNotFoundError(name, name=name)
        return real(name, package)

    made = make_run()
    path = exported(made.folder, tmp_path / "model.onnx")
    monkeypatch.setattr(optional_parts.importlib, "import_module", missing)
    with pytest.raises(UnusableError, match=re.escape(install_command("onnx"))):
        onnx_file.OnnxModel(path)
    with pytest.raises(UnusableError, match=re.escape(install_command("onnx"))):
        exported(made.folder, tmp_path / "other.onnx")


def test_a_damaged_file_gives_one_sentence(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(UnusableError, match="no ONNX model, or it is damaged"):
        predict_file(path, tmp_path / "data.csv")
