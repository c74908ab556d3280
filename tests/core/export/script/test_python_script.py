"""The exported script: alone with scikit-learn it prints the same scores from the raw file."""

from __future__ import annotations

import ast
import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.export.exporters import export_from_folder
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import read_data

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
def run_scripts(run_outside: Any, tmp_path: Path) -> Callable[..., dict[str, tuple[str, str]]]:
    """Run the scripts of folders without the program: {folder: (output, complaints)}."""

    def run(folders: list[str], *arguments: str) -> dict[str, tuple[str, str]]:
        ran = run_outside(RUN, tmp_path, " ".join(folders), *arguments)
        assert ran.returncode == 0, ran.stderr
        return {name: tuple(texts) for name, texts in json.loads(ran.stdout).items()}

    return run


def printed(text: str) -> tuple[str, ...]:
    """The tuned and the default score as printed."""
    return tuple(re.findall(r": (-?\d+\.\d+)$", text, re.MULTILINE))


def measured(made: Any) -> tuple[str, str]:
    return f"{made.score:.6f}", f"{made.default_score:.6f}"


CASES = [
    ("binary", "logistic", {}),
    ("multiclass", "forest", {}),
    ("regression", "boosting", {}),
    ("regression", "svm", {}),
    ("binary", "elastic-net", {}),
    ("regression", "elastic-net", {}),
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


def test_prints_the_same_scores(
    make_run: Callable[..., Any], run_scripts: Any, tmp_path: Path
) -> None:
    expected = {}
    for number, (task, model, how) in enumerate(CASES):
        folder = tmp_path / str(number)
        made = make_run(task, model, folder=folder, **how)
        export_from_folder(made.folder, folder / "tuned.py")
        expected[number, task, model, *how] = (measured(made), "")
    said = run_scripts([str(number) for number in range(len(CASES))])
    assert {
        case: (printed(said[str(case[0])][0]), said[str(case[0])][1]) for case in expected
    } == expected


def test_imports_nothing_but_the_usual_libraries(
    make_run: Callable[..., Any], tmp_path: Path
) -> None:
    made = make_run("binary", "logistic", learned=True)
    tree = ast.parse(export_from_folder(made.folder, tmp_path / "tuned.py").read_text())
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name.split(".")[0] for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            modules.add(str(node.module).split(".")[0])
    assert modules == {"hashlib", "sys", "pathlib", "numpy", "pandas", "scipy", "sklearn"}


def test_another_file_as_argument(
    make_run: Callable[..., Any], run_scripts: Any, tmp_path: Path
) -> None:
    """A changed file is complained about; where the file is gone, the rows are written out."""
    for name in ("changed", "gone"):
        made = make_run(folder=tmp_path / name)
        moved = (tmp_path / name / "data.csv").rename(tmp_path / name / "moved.csv")
        if name == "changed":
            (tmp_path / name / "data.csv").write_bytes(moved.read_bytes())
            moved.write_text(moved.read_text().replace("red", "blue", 1))
        export_from_folder(made.folder, tmp_path / name / "tuned.py")
    assert "train_test_split" in (tmp_path / "changed" / "tuned.py").read_text()
    assert "train_test_split" not in (tmp_path / "gone" / "tuned.py").read_text()
    said = run_scripts(["changed", "gone"], "moved.csv")
    assert "moved.csv has changed since the tuning" in said["changed"][1]
    assert said["gone"] == (said["gone"][0], "")
    assert printed(said["gone"][0]) == measured(made)


def test_samples_need_no_file(
    finish_run: Callable[..., Any], run_scripts: Any, tmp_path: Path
) -> None:
    expected, names = {}, ["clinic", "prices", "iris", "diabetes", "breast-cancer"]
    for name in names:
        dataset = read_dataset(f"sample:{name}")
        model = "linear" if dataset.task == "regression" else "logistic"
        plan = Plan(DataPlan(f"sample:{name}"), model, "random", seed=1)
        made = finish_run(plan, dataset, tmp_path / name)
        export_from_folder(made.folder, tmp_path / name / "tuned.py")
        expected[name] = (measured(made), "")
    said = run_scripts(names)
    assert {
        name: (printed(out), complaints) for name, (out, complaints) in said.items()
    } == expected


def test_rows_that_belong_together_and_the_latest_rows(
    finish_run: Callable[..., Any], run_scripts: Any, tmp_path: Path
) -> None:
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
        export_from_folder(made.folder, tmp_path / name / "tuned.py")
        expected[name] = measured(made)
    said = run_scripts(list(expected), str(tmp_path / "visits.csv"))
    assert {name: printed(out) for name, (out, _) in said.items()} == expected


def test_a_table_of_awkward_columns(
    finish_run: Callable[..., Any], run_scripts: Any, tmp_path: Path
) -> None:
    """Decimal commas, dates, quotes and blanks in names, stray words among numbers, compression."""
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
    export_from_folder(made.folder, tmp_path / "awkward" / "tuned.py")
    out, complaints = run_scripts(["awkward"], str(path))["awkward"]
    assert (printed(out), complaints) == (measured(made), "")


def test_a_file_elsewhere_is_asked_for_in_a_sentence(
    make_run: Callable[..., Any], run_outside: Any, tmp_path: Path
) -> None:
    made = make_run("binary", "logistic", folder=tmp_path / "data")
    (tmp_path / "elsewhere").mkdir()
    script = export_from_folder(made.folder, tmp_path / "elsewhere" / "tuned.py")
    run = f"import runpy; sys.argv = ['tuned.py']; runpy.run_path({str(script)!r})"
    ran = run_outside(run, tmp_path / "elsewhere")
    name = Path(made.dataset.source.path).name
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.startswith(f"{name} is not in this folder. Say where it is")
