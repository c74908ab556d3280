"""What leaves the computer: files by their names without folders, and no rows where none are to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from structured_runs import crf_run, rna_run

from core.datasets.dataset import DataSource
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.export.exporters import export_from_folder, export_run
from core.export.finished_run import file_name_of, finished_run
from core.export.redaction import without_examples
from core.export.report.report_page import page_html
from core.export.selected_run import with_selected_model
from core.tuning.events import ImagesDrawn, RunFinished, TopicsFound, TrialFailed
from core.tuning.payloads import Topic
from core.tuning.plan import DataPlan, Plan


@pytest.mark.parametrize("ending", [".json", ".py", ".html", ".skops", ".joblib"])
@pytest.mark.parametrize("second_file", [True, False])
def test_a_file_is_named_without_its_folder(
    make_run: Callable[..., Any], tmp_path: Path, ending: str, second_file: bool
) -> None:
    made = make_run("binary", "logistic", second_file=second_file)
    path = Path(made.dataset.source.path)
    content = export_from_folder(made.folder, tmp_path / f"out{ending}").read_bytes()
    assert str(path.parent).encode() not in content
    assert path.name.encode() in content or ending in (".skops", ".joblib")


@pytest.mark.parametrize(
    ("path", "name"),
    [("/home/ann/heart.csv", "heart.csv"), ("C:\\ann\\heart.csv", "heart.csv"), ("", "")],
)
def test_the_name_of_a_path(path: str, name: str) -> None:
    assert file_name_of(DataSource(path, "csv")) == name


@pytest.mark.parametrize("make", [crf_run, rna_run])
def test_a_report_without_examples_holds_no_row(tmp_path: Path, make: Callable[..., Any]) -> None:
    folder = make(tmp_path / "run").folder
    shown = export_run(finished_run(folder), tmp_path / "with.html").read_text()
    hidden = export_run(finished_run(folder, examples=False), tmp_path / "without.html").read_text()
    assert "An example" in shown
    assert "An example" not in hidden


def test_a_report_without_examples_holds_no_pictures(make_run: Callable[..., Any]) -> None:
    run = finished_run(make_run().folder)
    grey = np.linspace(0, 1, 4).tolist()
    drawn = ImagesDrawn(height=2, width=2, samples=[grey], originals=[grey], reconstructions=[grey])
    run = replace(run, events=[*run.events, drawn])
    assert "data:image" in page_html(run)
    assert "data:image" not in page_html(without_examples(run))


WORDS = ("Ann Other", "zweiunddreissig", "crimson", "magenta")  # cells of the table below


def told_run(finish_run: Callable[..., Any], folder: Path) -> Any:
    """A run whose findings, remarks, failures and prepared columns quote cells."""
    random = np.random.default_rng(0)
    lines = ["weight;colour;name;price"]
    for i, (weight, noise) in enumerate(random.normal(size=(120, 2))):
        said = f"{weight:.3f}".replace(".", ",") if i not in (3, 40) else WORDS[i == 40]
        cells = said, WORDS[2 + i % 2], f"id {i}", f"{2 * weight + noise:.3f}".replace(".", ",")
        lines.append(";".join(cells))
    path = folder / "table.csv"
    path.write_text("\n".join(lines))
    dataset = read_dataset(str(path), DataOptions(target="price"))
    made = finish_run(Plan(DataPlan(str(path), target="price"), "linear", "random"), dataset)
    run = finished_run(made.folder)
    remarks = ["Beside “Ann Other”, “colour” is fine."]
    with made.folder.hold_lock():
        why = "ValueError: could not convert string to float: 'zweiunddreissig'"
        made.folder.append(TrialFailed(number=7, reason=why))
        made.folder.append(RunFinished(results=replace(run.results, remarks=remarks)))
    return made


@pytest.mark.parametrize(
    ("ending", "which"),
    [(".html", "tuned"), *((one, two) for one in (".json", ".py") for two in ("tuned", "default"))],
)
def test_no_cell_is_quoted_where_examples_are_to_stay(
    finish_run: Callable[..., Any], tmp_path: Path, ending: str, which: str
) -> None:
    made = told_run(finish_run, tmp_path)
    texts = [
        export_run(
            with_selected_model(finished_run(made.folder, told), which), tmp_path / f"o{ending}"
        )
        .read_text()
        for told in (True, False)
    ]  # fmt: skip
    # A script reads strays by its rule for numbers and names none.
    assert any(word in texts[0] for word in WORDS) or ending == ".py"
    assert [word for word in WORDS if word in texts[1]] == []
    assert "colour" in texts[1]


def test_a_script_without_examples_gives_the_same_scores(
    finish_run: Callable[..., Any], run_outside: Any, tmp_path: Path
) -> None:
    made = told_run(finish_run, tmp_path)
    export_run(finished_run(made.folder, examples=False), tmp_path / "tuned.py")
    ran = run_outside("import runpy; sys.argv = ['tuned.py']; runpy.run_path('tuned.py')", tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert f"tuned: {made.score:.6f}" in ran.stdout


def test_a_report_without_examples_holds_no_words_of_topics(make_run: Callable[..., Any]) -> None:
    run = finished_run(make_run().folder)
    found = TopicsFound(count=1, documents=9, topics=[Topic(1.0, ["grandmother"], [0.5])])
    run = replace(run, events=[*run.events, found])
    assert "grandmother" in page_html(run)
    hidden = page_html(without_examples(run))
    assert "grandmother" not in hidden
    assert "Their words are left out." in hidden
