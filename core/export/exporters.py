"""The registry of exporters: the formats of files, and what each holds of which run."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from core.datasets.task import Task
from core.errors import UnusableError
from core.estimators.optional_parts import OPTIONAL_DEPENDENCIES, check_installed, is_installed
from core.export import destination, model_card
from core.export.bundle import carrier
from core.export.exportable_models import STRUCTURED, TUNED, export_variants_of
from core.export.files import json_file, model_file
from core.export.finished_run import FinishedRun
from core.export.mlflow import model_folder
from core.export.onnx import onnx_file as onnx_file
from core.export.report import report_page as report
from core.export.script import python_script
from core.extensions import Registry, check_kind
from core.tuning.scores.scoring import one_line_error


@dataclass(frozen=True)
class ExportVariant:
    """What a format holds of one form of run (`export_variants_of`)."""

    title: str  # in the window
    sentence: str  # what it is for
    write: Callable[[FinishedRun, Path], None]  # (run, path) writes the file


@dataclass(frozen=True)
class Exporter:
    """One format of files on the Export page and the command line."""

    name: str  # on the command line
    ending: str  # of its files, with the dot
    forms: Mapping[str, ExportVariant]  # by form of run; runs of other forms do not have it
    warning: str = ""  # what to know before using it
    of_run: bool = False  # whether it holds the run as a whole, not one model
    extra: str = ""  # the optional dependency that it needs
    endings: Mapping[str, str] = field(default_factory=dict)  # {ending: what it is}, of several
    joins: bool = False  # whether it adds to an existing file, and is given the destination itself
    has_card: bool = False  # whether a model card is written beside its files
    is_folder: bool = False  # whether it fills a new folder


def _write_study(run: FinishedRun, path: Path) -> None:
    from core.export.optuna_study import export_study  # Optuna takes a while to import

    export_study(run.folder, path)


def _write_script(run: FinishedRun, path: Path) -> None:
    # The source of models of ours is carried with their arrays.
    writer = carrier.write_script if run.takeaway.task in STRUCTURED else python_script.write
    writer(run, path)


def _write_folder(run: FinishedRun, path: Path) -> None:
    carrier.write_folder(run, path, model_card.card_text(run, "folder"))


# {format: its titles and sentences by forms of run}
_WORDS = json.loads((files("resources") / "exports.json").read_text(encoding="utf-8"))
MLFLOW = "mlflow"
_CODE = "Opening a joblib file can run any code in it. Open only files from people you trust."
_GET_ONNX = f"To save it, {OPTIONAL_DEPENDENCIES['onnx'].install_advice}."


def _variants(name: str, write: Callable[[FinishedRun, Path], None]) -> dict[str, ExportVariant]:
    return {
        form: ExportVariant(words["title"], words["sentence"], write)
        for words in _WORDS[name]
        for form in words["forms"]
    }


_ROWS = (
    Exporter("skops", ".skops", _variants("skops", model_file.write_skops), has_card=True),
    Exporter(
        "joblib", ".joblib", _variants("joblib", model_file.write_joblib), _CODE, has_card=True
    ),
    Exporter(
        "onnx",
        ".onnx",
        _variants("onnx", onnx_file.write),
        "" if is_installed("onnx") else _GET_ONNX,
        extra="onnx",
        has_card=True,
    ),
    Exporter("folder", ".zip", _variants("folder", _write_folder)),
    Exporter("npz", ".npz", _variants("npz", carrier.write_npz), has_card=True),
    Exporter(MLFLOW, ".mlflow", _variants(MLFLOW, model_folder.write), is_folder=True),
    Exporter("json", ".json", _variants("json", json_file.write)),
    Exporter("script", ".py", _variants("script", _write_script), has_card=True),
    Exporter("report", ".html", _variants("report", report.write), of_run=True),
    Exporter(
        "optuna",
        ".db",
        _variants("optuna", _write_study),
        of_run=True,
        endings={".db": "SQLite file", ".log": "Journal"},
        joins=True,
    ),
)


def _check_exporter(entry: Any) -> None:
    check_kind(entry, Exporter)
    if not entry.forms.keys() & set(export_variants_of()):
        raise ValueError(f"it has none of the forms {', '.join(export_variants_of())}")
    endings = {entry.ending, *entry.endings}
    # An extension may not take an ending by which people know another format.
    for exporter in _ROWS:
        if used_endings := endings & {exporter.ending, *exporter.endings}:
            raise ValueError(f"the ending {min(used_endings)} is taken by {exporter.name}")


EXPORTERS: Registry[Exporter] = Registry("tunescope.exporters", _ROWS, _check_exporter)


def exporters_for(task: str = "", model: str = "") -> dict[str, Exporter]:
    """The formats of a task's and a model's runs in the order of the window; "" for any."""
    forms = set(export_variants_of(task, model))
    return {name: exporter for name, exporter in EXPORTERS.items() if forms & exporter.forms.keys()}


def export_run(
    run: FinishedRun, path: Path | str, format: str | None = None, *, with_card: bool = True
) -> Path:
    """Write one file of a run, or of another of its models, its kind by the ending or `format`.

    A model has its card beside it, unless it is for a moment alone.
    """
    path = Path(path).expanduser()
    exporter = exporter_for(path, format, run.takeaway.task, run.plan.model)
    _check_model(exporter, path, run.selected_name)
    (form,) = export_variants_of(run.takeaway.task, run.plan.model)
    write = exporter.forms[form].write
    has_card = exporter.has_card and with_card
    if has_card:
        model_card.check_beside(path)
    # A draft would replace the studies that the file holds already.
    if exporter.joins:
        write(run, path)
    else:
        fill = partial(write, run)
        destination.fill_destination(path, fill, is_folder=exporter.is_folder)
    if has_card:
        model_card.write_beside(run, path, exporter.name)
    return path


def export_all(
    read: Callable[[], FinishedRun],
    paths: Iterable[Path | str],
    formats: Mapping[Path | str, str] | None = None,
) -> tuple[list[str], dict[str, str]]:
    """Write several files, each on its own: the written ones, and {path: sentence} of the others.

    A path may be the address of an MLflow tracking server or database. `formats` is {path: the name
    of an exporter}; other paths go by their endings.
    """
    written, failed = [], {}
    run: FinishedRun | None = None
    for path in paths:
        try:
            # The model is unpacked once for all files.
            run = run or read()
            format = (formats or {}).get(path)
            if _is_tracking(path, format):
                from core.export.mlflow.tracked_run import log_run

                written.append(log_run(run, str(path)))
            else:
                written.append(str(export_run(run, path, format)))
        except UnusableError as error:
            failed[str(path)] = error.sentence
        except Exception as error:  # a defect of one kind of file costs that file alone
            problem = f"this file could not be made ({one_line_error(error)})"
            cure = "save the model in another form"
            failed[str(path)] = UnusableError(problem, where=str(path), cure=cure).sentence
    return written, failed


def _is_tracking(path: Path | str, format: str | None) -> bool:
    return format == MLFLOW and destination.is_address(path)


def _check_model(exporter: Exporter, path: Path, which: str) -> None:
    if exporter.of_run and which != TUNED:
        fault = f"a {exporter.name} tells of the whole run, not of one model"
        raise UnusableError(fault, where=str(path), cure="export it with the tuned model")


def check_export(
    path: Path | str, task: str = "", model: str = "", which: str = TUNED, format: str | None = None
) -> None:
    """UnusableError where an export cannot succeed, before hours of tuning.

    `task` and `model` of the run are "" where unknown yet; `which` is one of its models.
    """
    if _is_tracking(path, format):
        check_installed(MLFLOW)
        return
    path = Path(path).expanduser()
    exporter = exporter_for(path, format, task, model)
    _check_model(exporter, path, which)
    check_installed(exporter.extra)
    destination.check_destination(path, exporter.is_folder)
    if exporter.has_card:
        model_card.check_beside(path)


def exporter_for(
    path: Path, format: str | None = None, task: str = "", model: str = ""
) -> Exporter:
    """The exporter for a path, by `format` or the ending, or UnusableError."""

    def keys_of(exporter: Exporter) -> tuple[str, ...]:
        endings = exporter.ending, *exporter.endings
        return tuple(dict.fromkeys(endings)) if format is None else (exporter.name,)

    key = path.suffix.lower() if format is None else format
    exporters = exporters_for(task, model).values()
    exporter_by_key = {name: exporter for exporter in exporters for name in keys_of(exporter)}
    if key in exporter_by_key:
        return exporter_by_key[key]
    *first_keys, last = exporter_by_key
    cure = f"{'choose' if format else 'end the name in'} {', '.join(first_keys)} or {last}"
    # The format exists, but not for such runs: then the sentence names the run.
    if unsuitable := next((e for e in EXPORTERS.values() if key in keys_of(e)), None):
        is_of_task = unsuitable.name in exporters_for(task)
        runs = f"of the model {model}" if is_of_task else f"on {Task(task).data_noun}"
        problem = f"a run {runs} has no {unsuitable.name} export"
    elif format is not None:
        problem = f"there is no export called “{format}”"
    else:
        ending = path.suffix
        problem = f"“{ending}” is no ending of an export" if ending else "the ending is missing"
    raise UnusableError(problem, where=str(path) if format is None else "", cure=cure)


Form = ExportVariant  # the name of earlier versions
