"""The registry of exporters: the formats of files, and what each holds of which run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.errors import UnusableError
from core.estimators.optional_parts import OPTIONAL_PARTS, check_installed, is_installed
from core.export.bundle import folder_file
from core.export.choices import STRUCTURED, TUNED, forms_of
from core.export.destination import check_destination, write_whole_file
from core.export.files import joblib_file, json_file, npz_file, skops_file
from core.export.finished_run import FinishedRun, finished_run
from core.export.onnx import file as onnx_file
from core.export.report import page as report
from core.export.script import python_script
from core.export.script import structured as structured_script
from core.extensions import Registry, check_kind
from core.tuning.runs.run_folder import RunFolder
from core.tuning.scores.scoring import in_a_sentence


@dataclass(frozen=True)
class Form:
    """What a format holds of one form of run (core.export.choices.forms_of).

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
    forms: Mapping[str, Form]
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
            "table": Form(
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
            "table": Form(
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
            "table": Form(
                "Model as ONNX",
                "The same model for programs in any language, by an ONNX runtime. It calculates "
                "in double precision; only sums over trees are single.",
                onnx_file.write,
            )
        },
        "" if is_installed("onnx") else f"To save it, {OPTIONAL_PARTS['onnx'].cure}.",
        extra="onnx",
    ),
    Exporter(
        "folder",
        ".zip",
        {
            "topics": Form(
                "Topics as a folder",
                "The topics, their words, and a program that finds them in new texts. Unpacked, "
                "it needs only numpy. It predicts here as it is.",
                folder_file.write,
            ),
            "classes": Form(
                "Model as a folder",
                "The model and a program that says the classes of new rows. Unpacked, it needs "
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
            Form(
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
                ("table", "topics", "classes"),
                Form(
                    "Numbers",
                    "Settings, penalties, scores, versions and seed as text that any program "
                    "reads.",
                    json_file.write,
                ),
            ),
            **dict.fromkeys(
                STRUCTURED,
                Form(
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
            "table": Form(
                "Python script",
                "A short program that trains the tuned model from your file again and prints the "
                "same test score. It needs scikit-learn, numpy and pandas, and the model's own "
                "library if it has one.",
                python_script.write,
            ),
            "sequence": Form(
                "Python script",
                "A program with the model inside that labels new sequences. It needs only numpy, "
                "and is faster where numba is installed.",
                structured_script.write,
            ),
            "structure": Form(
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
                ("table", "topics", "classes"),
                Form(
                    "Report",
                    "One page with the results, plots and all trials, to read, print or send.",
                    report.write,
                ),
            ),
            **dict.fromkeys(
                STRUCTURED,
                Form(
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
            forms_of(),
            Form(
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


def _check(entry: Any) -> None:
    """Raise an exception for an object of an extension that is no usable exporter."""
    check_kind(entry, Exporter)
    if not entry.forms.keys() & set(forms_of()):
        raise ValueError(f"it has none of the forms {', '.join(forms_of())}")
    own = {entry.ending, *entry.endings}
    for one in _ROWS:
        if taken := own & {one.ending, *one.endings}:
            raise ValueError(f"the ending {min(taken)} is taken by {one.name}")


EXPORTERS: Registry[Exporter] = Registry("tunescope.exporters", _ROWS, _check)


def exporters_for(task: str = "", model: str = "") -> dict[str, Exporter]:
    """The formats of a task's and a model's runs in the order of the window; "" for any."""
    forms = set(forms_of(task, model))
    return {name: one for name, one in EXPORTERS.items() if forms & one.forms.keys()}


def export(folder: RunFolder, path: Path | str, format: str | None = None) -> Path:
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
    """Write one file from a run that was read already, or from another of its models; as `export`.

    Raises:
        UnusableError: as `export`; or a file about the whole run is asked of another model.
    """
    path = Path(path).expanduser()
    exporter = exporter_for(path, format, run.takeaway.task, run.plan.model)
    _check_model(exporter, path, run.which)
    (form,) = forms_of(run.takeaway.task, run.plan.model)
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
                f"this file could not be made ({in_a_sentence(error)})",
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
    path: Path | str,
    task: str = "",
    model: str = "",
    which: str = TUNED,
    format: str | None = None,
) -> None:
    """Refuse an export that cannot succeed, before hours are spent on what it would hold.

    Args:
        path: where it is to go; the ending says what unless `format` does.
        task, model: of the run; "" where it is not known yet.
        which: of its models (core.export.choices).
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

    def asked_by(exporter: Exporter) -> tuple[str, ...]:
        own = exporter.ending, *exporter.endings
        return tuple(dict.fromkeys(own)) if format is None else (exporter.name,)

    asked = path.suffix.lower() if format is None else format
    fitting = exporters_for(task, model).values()
    offered = {word: exporter for exporter in fitting for word in asked_by(exporter)}
    if asked in offered:
        return offered[asked]
    *most, last = offered
    known = next((one for one in EXPORTERS.values() if asked in asked_by(one)), None)
    raise UnusableError(
        _unknown(path, format) if known is None else _not_for(known, task, model),
        where=str(path) if format is None else "",
        cure=f"{'choose' if format else 'end the name in'} {', '.join(most)} or {last}",
    )


def _unknown(path: Path, format: str | None) -> str:
    if format is not None:
        return f"there is no export called “{format}”"
    return f"“{path.suffix}” is no ending of an export" if path.suffix else "the ending is missing"


def _not_for(exporter: Exporter, task: str, model: str) -> str:
    if exporter.name in exporters_for(task):
        return f"a run of the model {model} has no {exporter.name} export"
    words = {"sequence": "sequences", "structure": "molecules", "topics": "documents"}
    return f"a run on {words.get(task, 'a table')} has no {exporter.name} export"
