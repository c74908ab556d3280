"""The registry of exporters: what can be exported of a run, and what each file is for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from core.errors import UnusableError
from core.estimators.optional_parts import OPTIONAL_PARTS, is_installed
from core.estimators.registry import MODELS
from core.export.bundle import folder_file
from core.export.choices import AS_FOLDERS, TABLES, TUNED
from core.export.destination import check_destination, write_whole_file
from core.export.files import joblib_file, json_file, npz_file, skops_file
from core.export.finished_run import FinishedRun, finished_run
from core.export.onnx import file as onnx_file
from core.export.report import page as report
from core.export.script import python_script
from core.export.script import structured as structured_script
from core.tuning.runs.run_folder import RunFolder
from core.tuning.scores.scoring import in_a_sentence

SEQUENCES, MOLECULES = ("sequence",), ("structure",)
TOPICS = ("topics",)
EVERY_MODEL = tuple(MODELS)
OTHERS = tuple(name for name in MODELS if name not in AS_FOLDERS)
NO_ONNX = "" if is_installed("onnx") else f"To save it, {OPTIONAL_PARTS['onnx'].cure}."


@dataclass(frozen=True)
class Exporter:
    """One kind of file, as the Export page and the command line find it.

    Attributes:
        name: on the command line.
        ending: of its files, with the dot.
        title: in the window.
        sentence: what it is for.
        warning: what to know before using it; "" if nothing.
        write: (run, path) writes the file.
        tasks, models: whose runs it can write.
        of_run: whether it tells of the whole run, not of the model that was chosen.
    """

    name: str
    ending: str
    title: str
    sentence: str
    warning: str
    write: Callable[[FinishedRun, Path], None]
    tasks: tuple[str, ...]
    models: tuple[str, ...] = OTHERS
    of_run: bool = False

    def offered(self, task: str = "", model: str = "") -> bool:
        """Whether runs of a task and a model have it; "" for what is not known yet."""
        return (not task or task in self.tasks) and (not model or model in self.models)


EXPORTERS: tuple[Exporter, ...] = (
    Exporter(
        "skops",
        ".skops",
        "Model",
        "The tuned model, for predictions here or in any Python program with scikit-learn. "
        "Opening it runs no hidden code.",
        "",
        skops_file.write,
        TABLES,
    ),
    Exporter(
        "joblib",
        ".joblib",
        "Model as joblib",
        "The same model for programs that expect a joblib file.",
        "Opening a joblib file can run any code in it. Open only files from people you trust.",
        joblib_file.write,
        TABLES,
    ),
    Exporter(
        "onnx",
        ".onnx",
        "Model as ONNX",
        "The same model for programs in any language, by an ONNX runtime. It calculates in double "
        "precision; only sums over trees are single.",
        NO_ONNX,
        onnx_file.write,
        TABLES,
    ),
    Exporter(
        "folder",
        ".zip",
        "Topics as a folder",
        "The topics, their words, and a program that finds them in new texts. Unpacked, it needs "
        "only numpy. It predicts here as it is.",
        "",
        folder_file.write,
        TOPICS,
        AS_FOLDERS,
    ),
    Exporter(
        "folder",
        ".zip",
        "Model as a folder",
        "The model and a program that says the classes of new rows. Unpacked, it needs only "
        "numpy. It predicts here as it is.",
        "",
        folder_file.write,
        TABLES,
        AS_FOLDERS,
    ),
    Exporter(
        "npz",
        ".npz",
        "Model",
        "The tuned model as named arrays, for predictions here or in any program with numpy. "
        "Opening it runs no code.",
        "",
        npz_file.write,
        (*SEQUENCES, *MOLECULES),
    ),
    Exporter(
        "script",
        ".py",
        "Python script",
        "A program with the model inside that labels new sequences. It needs only numpy, and is "
        "faster where numba is installed.",
        "",
        structured_script.write,
        SEQUENCES,
    ),
    Exporter(
        "script",
        ".py",
        "Python script",
        "A program with the model inside that folds new molecules. It needs only numpy, and is "
        "much faster where numba is installed.",
        "",
        structured_script.write,
        MOLECULES,
    ),
    Exporter(
        "json",
        ".json",
        "Numbers",
        "Settings, penalties, scores, versions and seed as text that any program reads.",
        "",
        json_file.write,
        (*TABLES, *TOPICS),
        EVERY_MODEL,
    ),
    Exporter(
        "json",
        ".json",
        "Numbers",
        "Every weight of the model by its name, penalties, scores, versions and seed as text that "
        "any program reads. It predicts here as well.",
        "",
        json_file.write,
        (*SEQUENCES, *MOLECULES),
    ),
    Exporter(
        "script",
        ".py",
        "Python script",
        "A short program that trains the tuned model from your file again and prints the same "
        "test score. It needs only scikit-learn, numpy and pandas.",
        "",
        python_script.write,
        TABLES,
    ),
    Exporter(
        "report",
        ".html",
        "Report",
        "One page with the results, plots and all trials, to read, print or send.",
        "",
        report.write,
        (*TABLES, *TOPICS),
        EVERY_MODEL,
        of_run=True,
    ),
    Exporter(
        "report",
        ".html",
        "Report",
        "One page with the results, penalties, plots and an example, to read, print or send.",
        "",
        report.write,
        (*SEQUENCES, *MOLECULES),
        of_run=True,
    ),
)


def exporters_for(task: str, model: str) -> dict[str, Exporter]:
    """What the runs of a task and a model offer, {name: exporter} in the order of the window."""
    return {exporter.name: exporter for exporter in EXPORTERS if exporter.offered(task, model)}


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
    if exporter.of_run and run.which != TUNED:
        raise UnusableError(
            f"a {exporter.name} tells of the whole run, not of one model",
            where=str(path),
            cure="export it with the tuned model",
        )
    write_whole_file(path, lambda draft: exporter.write(run, draft))
    return path


def export_all(
    read: Callable[[], FinishedRun], paths: Iterable[Path | str]
) -> tuple[list[str], dict[str, str]]:
    """Write several files; one that fails, in whatever way, takes no other with it.

    Args:
        read: gives the run, or says why there is none to export.
        paths: the ending of each says what it holds.

    Returns:
        The files that were written, and {path: sentence} of those that were not.
    """
    written, failed = [], {}
    run: FinishedRun | None = None
    for path in paths:
        try:
            run = run or read()
            written.append(str(export_run(run, path)))
        except UnusableError as error:
            failed[str(path)] = error.sentence
        except Exception as error:  # a defect of one kind of file costs that file alone
            failed[str(path)] = UnusableError(
                f"this file could not be made ({in_a_sentence(error)})",
                where=str(path),
                cure="save the model in another form",
            ).sentence
    return written, failed


def check_export(path: Path | str, task: str = "", model: str = "") -> None:
    """Refuse an export that cannot succeed, before hours are spent on what it would hold.

    Args:
        path: where it is to go; the ending says what.
        task, model: of the run; "" where it is not known yet.

    Raises:
        UnusableError: an ending that is unknown or not offered, or an unusable destination.
    """
    path = Path(path).expanduser()
    exporter_for(path, task=task, model=model)
    check_destination(path)


def exporter_for(
    path: Path, format: str | None = None, task: str = "", model: str = ""
) -> Exporter:
    """The exporter for a path, by its ending unless `format` names it.

    Raises:
        UnusableError: an ending or format that is unknown, or that such runs do not offer.
    """
    offered = [exporter for exporter in EXPORTERS if exporter.offered(task, model)]
    if format is not None:
        by_name = {exporter.name: exporter for exporter in offered}
        if format not in by_name:
            known = any(exporter.name == format for exporter in EXPORTERS)
            what = f"there is no export called “{format}”"
            because = _not_for(format, task, model) if known else ""
            raise _refused(what, because, by_name, "choose")
        return by_name[format]
    by_ending = {exporter.ending: exporter for exporter in offered}
    ending = path.suffix.lower()
    if ending not in by_ending:
        other = next((one.name for one in EXPORTERS if one.ending == ending), "")
        what = (
            f"“{path.suffix}” is no ending of an export" if path.suffix else "the ending is missing"
        )
        because = _not_for(other, task, model) if other else ""
        raise _refused(what, because, by_ending, "end the name in", str(path))
    return by_ending[ending]


def _not_for(name: str, task: str, model: str) -> str:
    words = {"sequence": "sequences", "structure": "molecules", "topics": "documents"}
    if any(exporter.name == name and exporter.offered(task) for exporter in EXPORTERS):
        return f"a run of the model {model} has no {name} export"
    return f"a run on {words.get(task, 'a table')} has no {name} export"


def _refused(
    unknown: str, because: str, offered: Iterable[str], choose: str, where: str = ""
) -> UnusableError:
    *most, last = offered
    return UnusableError(
        because or unknown, where=where, cure=f"{choose} {', '.join(most)} or {last}"
    )
