"""The exported script: alone with scikit-learn it prints the same scores from the raw file.

Its score lines say what the program's metrics say; names and run folders of strangers are only text
in it; quotes of a table are read as the program reads them.
"""

from __future__ import annotations

import ast
import gzip
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from exported_files import exported, script_output, tuned_run
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler

from core.datasets.preparation import preparation
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.errors import UnusableError
from core.estimators.stored.plain_model import plain_pipeline
from core.export.finished_run import finished_run
from core.export.prediction import predict_file
from core.export.script.constructor import CodeWriter, list_code, wrapped_list
from core.export.script.python_script import score_expression, score_functions, script_source
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import read_data
from core.tuning.runs.best import best_of
from core.tuning.scores.metrics import METRICS, codes_of, predict_all

# One Python runs them all, each in its own folder: starting it costs more than they do.
RUN = """
import contextlib, io, json, os, runpy, warnings
warnings.simplefilter("ignore")
said, arguments = {}, sys.argv[2:]
for folder in sys.argv[1].split():
    os.chdir(folder)
    sys.argv = ["tuned.py", *arguments]
    out, complaints = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(complaints):
        runpy.run_path("tuned.py", run_name="__main__")
    said[folder] = [out.getvalue(), complaints.getvalue()]
    os.chdir("..")
print(json.dumps(said))
"""


@pytest.fixture
def run_scripts(run_outside, tmp_path):
    # Run the scripts of folders without the program: {folder: (output, complaints)}.

    def run(folders, *arguments):
        ran = run_outside(RUN, tmp_path, " ".join(folders), *arguments)
        assert ran.returncode == 0, ran.stderr
        return {name: tuple(texts) for name, texts in json.loads(ran.stdout).items()}

    return run


def printed(text):
    """The tuned and the default score as printed."""
    return tuple(re.findall(r": (-?\d+\.\d+)$", text, re.MULTILINE))


def measured(made):
    return f"{made.score:.6f}", f"{made.default_score:.6f}"


CASES = [
    ("binary", "logistic", {}),
    ("regression", "linear", {"learned": True}),
    ("binary", "logistic", {"learned": True}),
    ("multiclass", "logistic", {"learned": True}),
    ("multiclass", "logistic", {"explicit_split": True}),
    ("binary", "logistic", {"libsvm": True}),
    ("regression", "linear", {"libsvm": True, "learned": True}),
    ("multiclass", "logistic", {"libsvm": True, "learned": True}),
    ("binary", "logistic", {"second_file": True}),
    ("regression", "linear", {"libsvm": True, "second_file": True}),
]


def test_prints_the_same_scores(make_run, run_scripts, tmp_path):
    expected = {}
    for number, (task, model, how) in enumerate(CASES):
        folder = tmp_path / str(number)
        made = make_run(task, model, folder=folder, **how)
        exported(made.folder, folder / "tuned.py")
        expected[number, task, model, *how] = (measured(made), "")
    said = run_scripts([str(number) for number in range(len(CASES))])
    outputs = {case: said[str(case[0])] for case in expected}
    assert {case: (printed(out), err) for case, (out, err) in outputs.items()} == expected


def test_imports_nothing_but_the_usual_libraries(make_run, tmp_path):
    made = make_run("binary", "logistic", learned=True)
    nodes = list(ast.walk(ast.parse(exported(made.folder, tmp_path / "tuned.py").read_text())))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)]
    libraries = {"hashlib", "sys", "pathlib", "numpy", "pandas", "scipy", "sklearn"}
    assert {name.split(".")[0] for name in names} == libraries


def test_another_file_as_argument(make_run, run_scripts, tmp_path):
    # A changed file is complained about; where the file is gone, the rows are written out.
    for name in ("changed", "gone"):
        made = make_run(folder=tmp_path / name)
        moved = (tmp_path / name / "data.csv").rename(tmp_path / name / "moved.csv")
        if name == "changed":
            (tmp_path / name / "data.csv").write_bytes(moved.read_bytes())
            moved.write_text(moved.read_text().replace("red", "blue", 1))
        exported(made.folder, tmp_path / name / "tuned.py")
    assert "train_test_split" in (tmp_path / "changed" / "tuned.py").read_text()
    assert "train_test_split" not in (tmp_path / "gone" / "tuned.py").read_text()
    said = run_scripts(["changed", "gone"], "moved.csv")
    assert "moved.csv has changed since the tuning" in said["changed"][1]
    assert said["gone"] == (said["gone"][0], "")
    assert printed(said["gone"][0]) == measured(made)


def test_samples_need_no_file(finish_run, run_scripts, tmp_path):
    expected, names = {}, ["clinic", "prices", "iris", "diabetes", "breast-cancer"]
    for name in names:
        dataset = read_dataset(f"sample:{name}")
        model = "linear" if dataset.task == "regression" else "logistic"
        plan = Plan(DataPlan(f"sample:{name}"), model, "random", seed=1)
        made = finish_run(plan, dataset, tmp_path / name)
        exported(made.folder, tmp_path / name / "tuned.py")
        expected[name] = (measured(made), "")
    said = run_scripts(names)
    assert {name: (printed(out), err) for name, (out, err) in said.items()} == expected


def test_rows_that_belong_together_and_the_latest_rows(finish_run, run_scripts, tmp_path):
    random = np.random.default_rng(0)
    days = random.permutation(np.arange(np.datetime64("2024-01-01"), np.datetime64("2024-06-09")))
    lines = [
        f"{k % 50},{day},{value:.3f},{'no' if value + noise < 0 else 'yes'}"
        for k, (day, value, noise) in enumerate(
            zip(days, random.normal(size=160), random.normal(size=160), strict=True)
        )
    ]
    (tmp_path / "visits.csv").write_text("patient,seen,x,ill\n" + "\n".join(lines * 2) + "\n")
    expected = {}
    for name, latest, size in (("grouped", "", 0.3), ("latest", "seen", 0.1)):
        data = DataPlan(
            str(tmp_path / "visits.csv"), roles={"patient": "group"}, latest=latest, test_size=size
        )
        plan = Plan(data, "logistic", "random", seed=1)
        made = finish_run(plan, read_data(data), tmp_path / name)
        exported(made.folder, tmp_path / name / "tuned.py")
        expected[name] = measured(made)
    said = run_scripts(list(expected), str(tmp_path / "visits.csv"))
    assert {name: printed(out) for name, (out, _) in said.items()} == expected


def test_a_table_of_awkward_columns(finish_run, run_scripts, tmp_path):
    # Decimal commas, dates, quotes and blanks in names, stray words among numbers, compression.
    random = np.random.default_rng(0)
    lines = ['"der ""Preis"""; datum;ja ;grösse ;ziel ']
    for i in range(120):
        price, size, noise = (f"{value:.3f}" for value in random.normal(size=3))
        goal = f"{2 * float(size) + float(noise):.4f}"
        price, size, goal = (number.replace(".", ",") for number in (price, size, goal))
        day = f"{i % 28 + 1:02d}.{i % 12 + 1:02d}.2020"
        answer = "" if i % 9 == 0 else ("yes" if i % 3 else "no")
        lines.append(f"{price};{day};{answer};{'unbekannt' if i == 3 else size};{goal}")
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode("latin-1")))
    dataset = read_dataset(str(path), DataOptions(target="ziel"))
    plan = Plan(DataPlan(str(path), target="ziel"), "linear", "random")
    made = finish_run(plan, dataset, tmp_path / "awkward")
    exported(made.folder, tmp_path / "awkward" / "tuned.py")
    out, complaints = run_scripts(["awkward"], str(path))["awkward"]
    assert (printed(out), complaints) == (measured(made), "")


def test_a_file_elsewhere_is_asked_for_in_a_sentence(make_run, run_outside, tmp_path):
    made = make_run("binary", "logistic", folder=tmp_path / "data")
    (tmp_path / "elsewhere").mkdir()
    script = exported(made.folder, tmp_path / "elsewhere" / "tuned.py")
    run = f"import runpy; sys.argv = ['tuned.py']; runpy.run_path({str(script)!r})"
    ran = run_outside(run, tmp_path / "elsewhere")
    name = Path(made.dataset.source.path).name
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.startswith(f"{name} is not in this folder. Say where it is")


@pytest.mark.parametrize(("model", "holds"), [("vote7", True), ("logistic", False)])
def test_a_script_holds_sources_only_where_scikit_learn_has_no_such_class(
    make_run, tmp_path, model, holds
):
    folder = make_run("binary", model).folder
    text = exported(folder, tmp_path / "tuned.py").read_text()
    assert ("class Vote7Classifier" in text) == holds
    assert ("def compiled(" in text) == holds
    assert not re.search(r"^\s*(from|import) (core|app|resources)\b", text, re.MULTILINE)
    if holds:  # the run keeps its own class
        pipeline = best_of(folder)
        assert type(plain_pipeline(pipeline)[-1]).__name__ == "VotingClassifier"
        assert type(pipeline[-1]).__name__ == "Vote7Classifier"


MODELS = {"binary": ("logistic", "svm"), "multiclass": ("forest", "svm"), "regression": ("linear",)}


@pytest.mark.parametrize("task", list(MODELS))
def test_every_metric(make_run, tmp_path, task):
    for model in MODELS[task]:
        made = make_run(task, model, folder=tmp_path / model)
        X, y = made.dataset.table.iloc[made.test_rows], made.dataset.target[made.test_rows]
        check_scores(made, X, y)


def check_scores(made, X, y):
    """Every score that the lines of the script give is the program's."""
    run, classes, task = finished_run(made.folder), made.dataset.classes, made.dataset.task
    said = predict_all(run.pipeline, X, classes)
    for metric in METRICS.values():
        if task not in metric.tasks or getattr(said, metric.needs) is None:
            continue
        one = replace(run, results=replace(run.results, metric=metric.name))
        ours = metric.score(codes_of(y, classes), said)
        labels = y if task == "regression" else y.astype(str)
        assert script_score(one, X, labels) == pytest.approx(ours, rel=1e-12), metric.name


def script_score(run, X, y):
    """What the lines of the script give."""
    code = CodeWriter()
    line, functions = score_expression(run, code), score_functions(run)
    names = {"model": run.pipeline, "X_test": X, "y_test": y, "np": np}
    exec("\n".join([code.imports.text(), *functions]), names)
    return float(eval(line, names))


@pytest.mark.parametrize(("task", "model"), [("binary", "logistic"), ("multiclass", "svm")])
def test_classes_that_training_never_saw(finish_run, tmp_path, task, model):
    # Two further classes in the second file: the script's every score is the program's.
    random = np.random.default_rng(1)
    files = [str(tmp_path / name) for name in ("train.csv", "test.csv")]
    for file in files:
        table = pd.DataFrame(random.normal(size=(120, 3)), columns=["a", "b", "c"])
        cuts = [0.0] if task == "binary" else [-0.5, 0.5]
        table["y"] = np.array(["no", "yes", "zero"], dtype=object)[np.digitize(table["a"], cuts)]
        if file == files[1]:
            table.loc[::4, "y"], table.loc[1::9, "y"] = "maybe", "aaa"
        table.to_csv(file, index=False)
    dataset = read_dataset(files[0], DataOptions(target="y"), test_file=files[1])
    made = finish_run(Plan(DataPlan(files[0], "y", test_file=files[1]), model, "random"), dataset)
    assert (codes_of(dataset.test.target, dataset.classes) < 0).sum() > 35
    check_scores(made, dataset.test.features, dataset.test.target)


def test_an_undefined_score_is_no_reason_for_no_script(make_run):
    run = finished_run(make_run().folder)
    nothing = {"metric": "auc", "test": {"auc": None}, "default_test": {"auc": None}}
    text = script_source(replace(run, results=replace(run.results, **nothing)))
    assert "test rows: undefined tuned, undefined with the default" in " ".join(text.split())


EVIL = [
    'a"+executed()+"', "b'+executed()+'", 'c"""\nexecuted()\n"""', "d\\", "e{executed()}",
    "f\\N{x}", "g'''\nexecuted()\n'''", 'h")\nexecuted()\n(', 'j\\"', "k%s", "l\u2028executed()",
]  # fmt: skip


def names_called(source):
    """Every name that the program would look up."""
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


def test_names_of_columns_classes_and_files_are_quoted(finish_run, run_outside, tmp_path):
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(90, len(EVIL))), columns=EVIL)
    table["c"] = random.choice(EVIL, 90)
    table["y\\"] = np.array(EVIL, dtype=object)[np.arange(90) % len(EVIL)]
    path = tmp_path / ("".join(EVIL).replace("/", "") + ".csv")
    table.to_csv(path, index=False)
    dataset = read_dataset(str(path), DataOptions(target="y\\"))
    plan = Plan(DataPlan(str(path), target="y\\"), "logistic", "random")
    made = finish_run(plan, dataset, tmp_path / "made")
    script = exported(made.folder, tmp_path / "again.py")
    assert "executed" not in names_called(script.read_text())
    printed = script_output(run_outside, script, tmp_path, str(path))
    assert f"accuracy on test rows, tuned: {made.score:.6f}" in printed


CALL = '"), executed(), ("'


@pytest.mark.parametrize(
    "change",
    [
        {"fingerprint": CALL},
        {"path": CALL},
        {"fingerprint": CALL, "format": "libsvm", "libsvm": {"zero_based": CALL}},
        {"read_csv": {"sep": CALL, "na_values": [CALL], "dtype": {CALL: CALL}}},
        {"read_csv": {"sep=executed(), encoding": "x"}},
        {"read_csv": {"lambda": "x"}},
        {"format": "libsvm", "libsvm": {"zero_based=executed(), offset": 1}},
    ],
)  # fmt: skip
def test_a_run_folder_that_a_stranger_wrote_is_quoted_or_refused(make_run, tmp_path, change):
    made = make_run()
    takeaway = json.loads(made.folder.takeaway_path.read_text())
    takeaway["source"] |= change
    made.folder.takeaway_path.write_text(json.dumps(takeaway))
    named = [*change.get("read_csv", ()), *change.get("libsvm", ())]
    if not all(map(str.isidentifier, named)) or "lambda" in named:
        with pytest.raises(UnusableError, match="is no way of reading a file"):
            exported(made.folder, tmp_path / "again.py")
        return
    assert "executed" not in names_called(exported(made.folder, tmp_path / "again.py").read_text())


WRITTEN = {
    "letters": '"open {}',
    "outer": '"said "{}" aloud, or so"',
    "escaped": '"said \\"{}\\" aloud, or so"',
}


@pytest.mark.parametrize(("reading", "rows"), [("letters", 150), ("outer", 0), ("escaped", 150)])
def test_quotes_of_a_table_are_read_as_the_program_reads_them(run_outside, tmp_path, reading, rows):
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
    run = tuned_run(tmp_path / "run", plan)
    script = exported(run, tmp_path / "script.py")
    out = script_output(run_outside, script, tmp_path, str(path))
    scores = json.loads(exported(run, tmp_path / "numbers.json").read_text())["scores"]
    (metric,) = {line.split(" on ")[0] for line in out.splitlines() if " on test" in line}
    assert f"tuned: {scores['test'][metric]:.6f}" in out
    model = exported(run, tmp_path / "model.skops")
    answers = predict_file(model, path)["prediction"].tolist()
    assert len(answers) == 200
    two = [line.rpartition(",")[0] for line in (lines[0], lines[8], lines[9])]
    (tmp_path / "new.csv").write_text("\n".join(two) + "\n")
    assert predict_file(model, tmp_path / "new.csv")["prediction"].tolist() == answers[7:9]


# Constructor expressions: evaluated, they give an equal scikit-learn object.
OBJECTS = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    SimpleImputer(missing_values=-9.25e18, strategy="median"),
    OrdinalEncoder(
        categories=[np.array(["no", 'ye"s'], dtype=object)],
        handle_unknown="use_encoded_value",
        unknown_value=np.nan,
    ),
    FunctionTransformer(pd.to_datetime, kw_args={"errors": "coerce", "utc": True}),
    FunctionTransformer(np.log1p),
    Pipeline([("a", StandardScaler()), ("b", "passthrough")]),
    ColumnTransformer(
        [("x", OneHotEncoder(max_categories=9), ["a 'b'", 'c "d"', "e\\f"])], remainder="drop"
    ),
]


def rebuilt(thing):
    code = CodeWriter()
    expression = code.expression(thing)
    names = {}
    exec(code.imports.text(), names)
    return eval(expression, names)


@pytest.mark.parametrize("thing", OBJECTS, ids=lambda thing: type(thing).__name__)
def test_rebuilds_an_equal_object(thing):
    again = rebuilt(thing)
    assert type(again) is type(thing)
    assert repr(again.get_params()) == repr(thing.get_params())


@pytest.mark.parametrize("sample", ["clinic", "prices"])
def test_rebuilds_the_preparation(sample):
    dataset = read_dataset(f"sample:{sample}")
    ours = preparation(dataset, scale=True, sparse_ok=False)
    again = rebuilt(ours)
    table = dataset.table
    np.testing.assert_array_equal(ours.fit_transform(table), again.fit_transform(table))


def test_long_lists_have_a_name():
    columns = [f"column {i}" for i in range(40)]
    code = CodeWriter(names={list_code(columns): "COLUMNS"})
    assert code.expression(("x", "drop", columns)) == '("x", "drop", COLUMNS)'
    text = wrapped_list(columns)
    assert eval(text) == columns
    assert max(len(line) for line in text.splitlines()) <= 100
