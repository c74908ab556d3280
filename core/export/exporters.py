"""The registry of exporters: the formats of files, and what each holds of which run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.datasets.task import Task
from core.errors import UnusableError
from core.estimators.optional_parts import OPTIONAL_DEPENDENCIES, check_installed, is_installed
from core.export.bundle import folder_file
from core.export.destination import check_destination, write_whole_file
from core.export.exportable_models import STRUCTURED, TUNED, export_variants_of
from core.export.files import joblib_file, json_file, npz_file, skops_file
from core.export.finished_run import FinishedRun, finished_run
from core.export.onnx import onnx_file as onnx_file
from core.export.report import report_page as report
from core.export.script import python_script
from core.export.script import structured_script as structured_script
from core.extensions import Registry, check_kind
from core.tuning.runs.run_folder import RunFolder
from core.tuning.scores.scoring import one_line_error


@dataclass(frozen=True)
class ExportVariant:
    """What a format holds of one form of run (core.export.exportable_models.export_variants_of).

    Attributes:
        title: in the window.
        sentence: what it is for.
        write: (run, path) writes the file.
    """

    title: str
    sentence: str
    write: Callable[[FinishedRun, Path], None]


@dataclass(frozen=True)
class Exporter:
    """One format of files, as the Export page and the command line find it.

    Attributes:
        name: on the command line.
        ending: of its files, with the dot.
        forms: what it holds of each form of run; of others it holds nothing.
        warning: what to know before using it; "" if nothing.
        of_run: whether it tells of the whole run, not of the model that was chosen.
        extra: the optional part of the program that it needs (OPTIONAL_PARTS).
        endings: {ending: what such a file is called} where there are several to choose from.
        joins: whether what is written joins what a file holds already; `write` then is given the
            destination itself, otherwise a draft that takes its place.
    """

    name: str
    ending: str
    forms: Mapping[str, ExportVariant]
    warning: str = ""
    of_run: bool = False
    extra: str = ""
    endings: Mapping[str, str] = field(default_factory=dict)
    joins: bool = False


def _write_study(run: FinishedRun, path: Path) -> None:
    from core.export.optuna_study import export_study  # Optuna takes a while to import

    export_study(run.folder, path)


_ROWS = (
    Exporter(
        "skops",
        ".skops",
        {
            "table": ExportVariant(
                "Model",
                "The tuned model, for predictions here or in any Python program with "
                "scikit-learn. Opening it runs no hidden code.",
                skops_file.write,
            )
        },
    ),
    Exporter(
        "joblib",
        ".joblib",
        {
            "table": ExportVariant(
                "Model as joblib",
                "The same model for programs that expect a joblib file.",
                joblib_file.write,
            )
        },
        "Opening a joblib file can run any code in it. Open only files from people you trust.",
    ),
    Exporter(
        "onnx",
        ".onnx",
        {
            "table": ExportVariant(
                "Model as ONNX",
                "The same model for programs in any language, by an ONNX runtime. It calculates "
                "in double precision; only sums over trees are single.",
                onnx_file.write,
            )
        },
        ""
        if is_installed("onnx")
        else f"To save it, {OPTIONAL_DEPENDENCIES['onnx'].install_advice}.",
        extra="onnx",
    ),
    Exporter(
        "folder",
        ".zip",
        {
            Task.TOPICS: ExportVariant(
                "Topics as a folder",
                "The topics, their words, and a program that finds them in new texts. Unpacked, "
                "it needs only numpy. It predicts here as it is.",
                folder_file.write,
            ),
            "classes": ExportVariant(
                "Model as a folder",
                "The model and a program that predicts the classes of new rows. Unpacked, it needs "
                "only numpy. It predicts here as it is.",
                folder_file.write,
            ),
        },
    ),
    Exporter(
        "npz",
        ".npz",
        dict.fromkeys(
            STRUCTURED,
            ExportVariant(
                "Model",
                "The tuned model as named arrays, for predictions here or in any program with "
                "numpy. Opening it runs no code.",
                npz_file.write,
            ),
        ),
    ),
    Exporter(
        "json",
        ".json",
        {
            **dict.fromkeys(
                ("table", Task.TOPICS, "classes"),
                ExportVariant(
                    "Numbers",
                    "Settings, penalties, scores, versions and seed as text that any program "
                    "reads.",
                    json_file.write,
                ),
            ),
            **dict.fromkeys(
                STRUCTURED,
                ExportVariant(
                    "Numbers",
                    "Every weight of the model by its name, penalties, scores, versions and seed "
                    "as text that any program reads. It predicts here as well.",
                    json_file.write,
                ),
            ),
        },
    ),
    Exporter(
        "script",
        ".py",
        {
            "table": ExportVariant(
                "Python script",
                "A short program that trains the tuned model from your file again and prints the "
                "same test score. It needs scikit-learn, numpy and pandas, and the model's own "
                "library if it has one.",
                python_script.write,
            ),
            Task.SEQUENCE: ExportVariant(
                "Python script",
                "A program with the model inside that labels new sequences. It needs only numpy, "
                "and is faster where numba is installed.",
                structured_script.write,
            ),
            Task.STRUCTURE: ExportVariant(
                "Python script",
                "A program with the model inside that folds new molecules. It needs only numpy, "
                "and is much faster where numba is installed.",
                structured_script.write,
            ),
        },
    ),
    Exporter(
        "report",
        ".html",
        {
            **dict.fromkeys(
                ("table", Task.TOPICS, "classes"),
                ExportVariant(
                    "Report",
                    "One page with the results, plots and all trials, to read, print or send.",
                    report.write,
                ),
            ),
            **dict.fromkeys(
                STRUCTURED,
                ExportVariant(
                    "Report",
                    "One page with the results, penalties, plots and an example, to read, print "
                    "or send.",
                    report.write,
                ),
            ),
        },
        of_run=True,
    ),
    Exporter(
        "optuna",
        ".db",
        dict.fromkeys(
            export_variants_of(),
            ExportVariant(
                "Optuna study",
                "Every trial of the run, for Optuna and optuna-dashboard. A file that holds other "
                "studies keeps them.",
                _write_study,
            ),
        ),
        of_run=True,
        endings={".db": "SQLite file", ".log": "Journal"},
        joins=True,
    ),
)


def _check_exporter(entry: Any) -> None:
    """Raise an exception for an object of an extension that is no usable exporter."""
    check_kind(entry, Exporter)
    if not entry.forms.keys() & set(export_variants_of()):
        raise ValueError(f"it has none of the forms {', '.join(export_variants_of())}")
    endings = {entry.ending, *entry.endings}
    for exporter in _ROWS:
        if used_endings := endings & {exporter.ending, *exporter.endings}:
            raise ValueError(f"the ending {min(used_endings)} is taken by {exporter.name}")


EXPORTERS: Registry[Exporter] = Registry("tunescope.exporters", _ROWS, _check_exporter)


def exporters_for(task: str = "", model: str = "") -> dict[str, Exporter]:
    """The formats of a task's and a model's runs in the order of the window; "" for any."""
    forms = set(export_variants_of(task, model))
    return {name: exporter for name, exporter in EXPORTERS.items() if forms & exporter.forms.keys()}


def export_from_folder(folder: RunFolder, path: Path | str, format: str | None = None) -> Path:
    """Write one file from a run; the kind comes from the ending unless `format` names it.

    Returns:
        The path of the written file.

    Raises:
        UnusableError: an ending or format that is unknown or that this run does not offer, a run
            without results, or an unusable destination.
    """
    path = Path(path).expanduser()
    exporter_for(path, format)
    return export_run(finished_run(folder), path, format)


def export_run(run: FinishedRun, path: Path | str, format: str | None = None) -> Path:
    """Write one file from a run that was read already, or from another of its models.

    Raises:
        UnusableError: as `export_from_folder`; or a file about the whole run is asked of another
            model.
    """
    path = Path(path).expanduser()
    exporter = exporter_for(path, format, run.takeaway.task, run.plan.model)
    _check_model(exporter, path, run.selected_name)
    (form,) = export_variants_of(run.takeaway.task, run.plan.model)
    write = exporter.forms[form].write
    if exporter.joins:
        write(run, path)
    else:
        write_whole_file(path, lambda draft: write(run, draft))
    return path


def export_all(
    read: Callable[[], FinishedRun],
    paths: Iterable[Path | str],
    formats: Mapping[Path | str, str] | None = None,
) -> tuple[list[str], dict[str, str]]:
    """Write several files; one that fails, in whatever way, takes no other with it.

    Args:
        read: gives the run, or says why there is none to export.
        paths: the ending of each says what it holds, unless `formats` does.
        formats: {path: the name of an exporter}.

    Returns:
        The files that were written, and {path: sentence} of those that were not.
    """
    written, failed = [], {}
    run: FinishedRun | None = None
    for path in paths:
        try:
            run = run or read()
            written.append(str(export_run(run, path, (formats or {}).get(path))))
        except UnusableError as error:
            failed[str(path)] = error.sentence
        except Exception as error:  # a defect of one kind of file costs that file alone
            failed[str(path)] = UnusableError(
                f"this file could not be made ({one_line_error(error)})",
                where=str(path),
                cure="save the model in another form",
            ).sentence
    return written, failed


def _check_model(exporter: Exporter, path: Path, which: str) -> None:
    if exporter.of_run and which != TUNED:
        raise UnusableError(
            f"a {exporter.name} tells of the whole run, not of one model",
            where=str(path),
            cure="export it with the tuned model",
        )


def check_export(
    path: Path | str, task: str = "", model: str = "", which: str = TUNED, format: str | None = None
) -> None:
    """Refuse an export that cannot succeed, before hours are spent on what it would hold.

    Args:
        path: where it is to go; the ending says what unless `format` does.
        task, model: of the run; "" where it is not known yet.
        which: of its models (core.export.exportable_models).
        format: the name of an exporter.

    Raises:
        UnusableError: an ending that is unknown or not offered, a package that is missing, or an
            unusable destination.
    """
    path = Path(path).expanduser()
    exporter = exporter_for(path, format, task, model)
    _check_model(exporter, path, which)
    check_installed(exporter.extra)
    check_destination(path)


def exporter_for(
    path: Path, format: str | None = None, task: str = "", model: str = ""
) -> Exporter:
    """The exporter for a path, by its ending unless `format` names it.

    Raises:
        UnusableError: an ending or format that is unknown, or that such runs do not offer.
    """

    def keys_of(exporter: Exporter) -> tuple[str, ...]:
        endings = exporter.ending, *exporter.endings
        return tuple(dict.fromkeys(endings)) if format is None else (exporter.name,)

    requested_key = path.suffix.lower() if format is None else format
    exporters = exporters_for(task, model).values()
    exporter_by_key = {key: exporter for exporter in exporters for key in keys_of(exporter)}
    if requested_key in exporter_by_key:
        return exporter_by_key[requested_key]
    *first_keys, last = exporter_by_key
    other_exporter = next(
        (exporter for exporter in EXPORTERS.values() if requested_key in keys_of(exporter)), None
    )
    raise UnusableError(
        _unknown_format_text(path, format)
        if other_exporter is None
        else _not_offered_text(other_exporter, task, model),
        where=str(path) if format is None else "",
        cure=f"{'choose' if format else 'end the name in'} {', '.join(first_keys)} or {last}",
    )


def _unknown_format_text(path: Path, format: str | None) -> str:
    if format is not None:
        return f"there is no export called “{format}”"
    return f"“{path.suffix}” is no ending of an export" if path.suffix else "the ending is missing"


def _not_offered_text(exporter: Exporter, task: str, model: str) -> str:
    if exporter.name in exporters_for(task):
        return f"a run of the model {model} has no {exporter.name} export"
    return f"a run on {Task(task).data_noun} has no {exporter.name} export"


Form = ExportVariant  # the name of earlier versions
