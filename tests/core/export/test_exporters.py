"""The registry of exporters: kinds by ending, whole files or none, one sentence for what fails."""

import errno
import os

import pytest
from exported_files import exported

from core.errors import UnusableError
from core.estimators import optional_parts
from core.estimators.registry import MODELS
from core.export.destination import fill_destination
from core.export.exportable_models import export_variants_of
from core.export.exporters import EXPORTERS, check_export, exporters_for
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs.run_folder import RunFolder

TABLES = ["skops", "joblib", "onnx", "mlflow", "json", "script", "report", "optuna"]
FOLDERS = ["folder", "mlflow", "json", "report", "optuna"]
STRUCTURED = ["npz", "mlflow", "json", "script", "report", "optuna"]


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
def test_what_a_run_offers_depends_on_task_and_model(task, model, offered):
    assert list(exporters_for(task, model)) == offered


def test_a_format_is_one_row_and_every_run_has_one_form():
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
        ("sequence", "model.skops", "sequences has no skops export; end the name in .npz,"),
        ("structure", "model.joblib", "a run on molecules has no joblib export"),
        ("binary", "model.npz", "a run on a table has no npz export; end the name in .skops,"),
    ],
)
def test_an_export_that_the_task_does_not_have_is_refused_beforehand(
    tmp_path, task, name, sentence
):
    check_export(tmp_path / name)  # while the task is unknown, any ending that exists will do
    with pytest.raises(UnusableError, match=sentence):
        check_export(tmp_path / name, task)


def test_an_export_that_needs_a_missing_package_is_refused_beforehand(tmp_path, monkeypatch):
    monkeypatch.setattr(optional_parts, "find_spec", lambda module: None)
    with pytest.raises(UnusableError, match="ONNX model files need onnx, which is missing here"):
        check_export(tmp_path / "model.onnx")
    check_export(tmp_path / "model.skops")


def test_a_report_of_another_model_is_refused_beforehand(tmp_path):
    check_export(tmp_path / "run.html", which="tuned")
    for name, which, kind in (("run.html", "baseline", None), ("run.txt", "3", "report")):
        with pytest.raises(UnusableError, match="tells of the whole run"):
            check_export(tmp_path / name, which=which, format=kind)


def test_a_file_stands_alone_and_is_readable_like_any_other(make_run, tmp_path):
    out, plain = tmp_path / "out", tmp_path / "plain"
    out.mkdir()
    plain.write_text("")
    path = exported(make_run().folder, out / "numbers.txt", "json")  # outweighs the ending
    assert path.read_text().startswith("{")
    assert path.stat().st_mode == plain.stat().st_mode
    assert list(out.iterdir()) == [path]  # no draft is left behind


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
def test_an_unusable_destination_is_one_sentence(make_run, tmp_path, name, kind, sentence):
    (tmp_path / "taken.json").mkdir()
    with pytest.raises(UnusableError, match=sentence):
        exported(make_run().folder, tmp_path / name, kind)


def test_a_run_without_results_is_one_sentence(tmp_path):
    folder = RunFolder.create(Plan(DataPlan("x.csv"), "linear", "mm"), path=tmp_path / "run")
    with pytest.raises(UnusableError, match="no fitted model yet"):
        exported(folder, tmp_path / "model.skops")


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.ENOSPC, "the disk is full; free some space"),
        (errno.EACCES, "the file cannot be written \\(Permission denied\\)"),
        (errno.EIO, "cannot be written"),
    ],
)
def test_what_fails_leaves_the_older_file(tmp_path, number, sentence):
    path = tmp_path / "report.html"
    path.write_text("older")

    def half(draft):
        draft.write_text("half of the new")
        raise OSError(number, os.strerror(number))

    with pytest.raises(UnusableError, match=sentence):
        fill_destination(path, half)
    assert path.read_text() == "older"
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_a_folder_without_permission(tmp_path, monkeypatch):
    # The tests may run as a user whom no permission stops.
    def refuse(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda path, mode: False)
        with pytest.raises(UnusableError, match="cannot be written"):
            check_export(tmp_path / "model.skops")
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(UnusableError, match="choose another folder or name"):
        fill_destination(tmp_path / "model.json", lambda draft: draft.write_text("{}"))
