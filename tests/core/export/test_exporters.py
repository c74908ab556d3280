"""The registry of exporters: kinds by ending, whole files or none, one sentence for what fails."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.errors import UnusableError
from core.estimators import optional_parts
from core.estimators.optional_parts import is_installed
from core.estimators.registry import MODELS
from core.export.destination import write_whole_file
from core.export.exportable_models import export_variants_of
from core.export.exporters import EXPORTERS, check_export, export_from_folder, exporters_for
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs.run_folder import RunFolder

TABLES = ["skops", "joblib", "onnx", "json", "script", "report", "optuna"]
FOLDERS = ["folder", "json", "report", "optuna"]
STRUCTURED = ["npz", "json", "script", "report", "optuna"]


@pytest.mark.parametrize(
    ("task", "model", "offered"),
    [
        ("regression", "linear", TABLES),
        ("binary", "svm", TABLES),
        ("multiclass", "svm", TABLES),
        ("sequence", "crf", STRUCTURED),
        ("structure", "rna", STRUCTURED),
        ("multiclass", "dlgm", FOLDERS),
        ("topics", "lda", FOLDERS),
    ],
)
def test_what_a_run_offers_depends_on_task_and_model(
    task: str, model: str, offered: list[str]
) -> None:
    assert list(exporters_for(task, model)) == offered


def test_a_format_is_one_row_and_every_run_has_one_form() -> None:
    names = [exporter.name for exporter in EXPORTERS.values()]
    endings = [exporter.ending for exporter in EXPORTERS.values()]
    assert len({*names}) == len({*endings}) == len(EXPORTERS)
    for exporter in EXPORTERS.values():
        assert exporter.forms
        assert all(form.title and form.sentence.endswith(".") for form in exporter.forms.values())
    assert "trust" in exporters_for("binary", "svm")["joblib"].warning
    for name, model in MODELS.items():
        for task in model.tasks:
            (form,) = export_variants_of(task, name)
            assert {"json", "report"} <= {n for n, e in EXPORTERS.items() if form in e.forms}
            assert form in export_variants_of(task)
            assert form in export_variants_of()


@pytest.mark.parametrize(
    ("task", "name", "sentence"),
    [
        (
            "sequence",
            "model.skops",
            "a run on sequences has no skops export; end the name in .npz, .json, .py, .html, "
            ".db or .log.",
        ),
        ("structure", "model.joblib", "a run on molecules has no joblib export"),
        ("binary", "model.npz", "a run on a table has no npz export; end the name in .skops,"),
    ],
)
def test_an_export_that_the_task_does_not_have_is_refused_beforehand(
    tmp_path: Path, task: str, name: str, sentence: str
) -> None:
    check_export(tmp_path / name)  # while the task is unknown, any ending that exists will do
    with pytest.raises(UnusableError, match=sentence):
        check_export(tmp_path / name, task)


def test_an_export_that_needs_a_missing_package_is_refused_beforehand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(optional_parts, "find_spec", lambda module: None)
    with pytest.raises(UnusableError, match="ONNX model files need onnx, which is missing here"):
        check_export(tmp_path / "model.onnx")
    check_export(tmp_path / "model.skops")


def test_a_report_of_another_model_is_refused_beforehand(tmp_path: Path) -> None:
    check_export(tmp_path / "run.html", which="tuned")
    with pytest.raises(UnusableError, match="tells of the whole run"):
        check_export(tmp_path / "run.html", which="baseline")
    with pytest.raises(UnusableError, match="tells of the whole run"):
        check_export(tmp_path / "run.txt", which="3", format="report")


def test_a_place_without_permission_is_refused_beforehand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(UnusableError, match="cannot be written"):
        check_export(tmp_path / "model.skops")


def test_writes_every_kind_by_its_ending(make_run: Callable[..., Any], tmp_path: Path) -> None:
    made = make_run()
    out = tmp_path / "out"
    out.mkdir()
    offered = exporters_for(made.dataset.task, "logistic")
    if not is_installed("onnx"):
        offered.pop("onnx")
    for exporter in offered.values():
        path = export_from_folder(made.folder, out / f"model{exporter.ending}")
        assert path.stat().st_size > 1000
    assert len(list(out.iterdir())) == len(offered)  # no draft is left behind
    path = export_from_folder(made.folder, out / "numbers.txt", "json")  # outweighs the ending
    assert path.read_text().startswith("{")
    plain = tmp_path / "plain"
    plain.write_text("")
    assert path.stat().st_mode == plain.stat().st_mode  # readable like any other file


@pytest.mark.parametrize(
    ("name", "kind", "sentence"),
    [
        ("model.pkl", None, "“.pkl” is no ending of an export"),
        ("model", None, "the ending is missing"),
        ("model.json", "excel", "no export called “excel”"),
        ("model.json", "npz", "a run on a table has no npz export; choose skops,"),
        ("nowhere/model.json", None, "there is no such folder"),
        ("taken.json", None, "a folder has this name"),
    ],
)
def test_an_unusable_destination_is_one_sentence(
    make_run: Callable[..., Any], tmp_path: Path, name: str, kind: str | None, sentence: str
) -> None:
    (tmp_path / "taken.json").mkdir()
    with pytest.raises(UnusableError, match=sentence):
        export_from_folder(make_run().folder, tmp_path / name, kind)


def test_a_run_without_results_is_one_sentence(tmp_path: Path) -> None:
    folder = RunFolder.create(Plan(DataPlan("x.csv"), "linear", "mm"), path=tmp_path / "run")
    with pytest.raises(UnusableError, match="no fitted model yet"):
        export_from_folder(folder, tmp_path / "model.skops")


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.ENOSPC, "the disk is full; free some space"),
        (errno.EACCES, "the file cannot be written \\(Permission denied\\)"),
        (errno.EIO, "cannot be written"),
    ],
)
def test_what_fails_leaves_the_older_file(tmp_path: Path, number: int, sentence: str) -> None:
    path = tmp_path / "report.html"
    path.write_text("older")

    def half(draft: Path) -> None:
        draft.write_text("half of the new")
        raise OSError(number, os.strerror(number))

    with pytest.raises(UnusableError, match=sentence):
        write_whole_file(path, half)
    assert path.read_text() == "older"
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_a_folder_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The tests may run as a user whom no permission stops.
    def refuse(*_: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(UnusableError, match="choose another folder or name"):
        write_whole_file(tmp_path / "model.json", lambda draft: draft.write_text("{}"))
