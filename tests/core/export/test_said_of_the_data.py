"""What leaves the computer: files by their names without folders, and no rows where none are to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from structured_runs import crf_run, rna_run

from core.export.exporters import export, export_run
from core.export.finished_run import file_of, finished_run
from core.export.report.page import page
from core.tuning.events import ImagesDrawn


@pytest.mark.parametrize("ending", [".json", ".py", ".html", ".skops", ".joblib"])
@pytest.mark.parametrize("second_file", [True, False])
def test_a_file_is_named_without_its_folder(
    make_run: Callable[..., Any], tmp_path: Path, ending: str, second_file: bool
) -> None:
    made = make_run("binary", "logistic", second_file=second_file)
    path = Path(made.dataset.source.path)
    content = export(made.folder, tmp_path / f"out{ending}").read_bytes()
    assert str(path.parent).encode() not in content
    assert path.name.encode() in content or ending in (".skops", ".joblib")


@pytest.mark.parametrize(
    ("path", "name"),
    [("/home/ann/heart.csv", "heart.csv"), ("C:\\ann\\heart.csv", "heart.csv"), ("", "")],
)
def test_the_name_of_a_path(path: str, name: str) -> None:
    assert file_of({"path": path}) == name


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
    assert "data:image" in page(run)
    assert "data:image" not in page(replace(run, examples=False))
