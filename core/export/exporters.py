"""The registry of exporters: what can be taken away from a run, and what each file is for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from core.errors import UnusableError
from core.export import joblib_file, json_file, python_script, report, skops_file
from core.export.destination import check_destination, write_whole_file
from core.export.finished_run import FinishedRun, finished_run
from core.tuning.run_folder import RunFolder


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
    """

    name: str
    ending: str
    title: str
    sentence: str
    warning: str
    write: Callable[[FinishedRun, Path], None]


EXPORTERS: dict[str, Exporter] = {
    exporter.name: exporter
    for exporter in (
        Exporter(
            "skops",
            ".skops",
            "Model",
            "The tuned model, for predictions here or in any Python program with scikit-learn. "
            "Opening it runs no hidden code.",
            "",
            skops_file.write,
        ),
        Exporter(
            "joblib",
            ".joblib",
            "Model as joblib",
            "The same model for programs that expect a joblib file.",
            "Opening a joblib file can run any code in it. Open only files from people you trust.",
            joblib_file.write,
        ),
        Exporter(
            "json",
            ".json",
            "Numbers",
            "Settings, penalties, scores, versions and seed as text that any program reads.",
            "",
            json_file.write,
        ),
        Exporter(
            "script",
            ".py",
            "Python script",
            "A short program that trains the tuned model from your file again and prints the same "
            "test score. It needs only scikit-learn, numpy and pandas.",
            "",
            python_script.write,
        ),
        Exporter(
            "report",
            ".html",
            "Report",
            "One page with the results, plots and all trials, to read, print or send.",
            "",
            report.write,
        ),
    )
}


def export(folder: RunFolder, path: Path | str, format: str | None = None) -> Path:
    """Write one file from a run; the kind comes from the ending unless `format` names it.

    Returns:
        The path of the written file.

    Raises:
        UnusableError: unknown ending or format, a run without results, or an unusable destination.
    """
    path = Path(path).expanduser()
    exporter = exporter_for(path, format)
    run = finished_run(folder)
    write_whole_file(path, lambda draft: exporter.write(run, draft))
    return path


def check_export(path: Path | str) -> None:
    """Refuse an export that cannot succeed, before hours are spent on what it would hold.

    Raises:
        UnusableError: unknown ending, or an unusable destination.
    """
    path = Path(path).expanduser()
    exporter_for(path)
    check_destination(path)


def exporter_for(path: Path, format: str | None = None) -> Exporter:
    """The exporter for a path, by its ending unless `format` names it.

    Raises:
        UnusableError: unknown ending or format.
    """
    if format is not None:
        if format not in EXPORTERS:
            raise UnusableError(
                f"there is no export called “{format}”", cure=f"choose {_listed(EXPORTERS)}"
            )
        return EXPORTERS[format]
    by_ending = {exporter.ending: exporter for exporter in EXPORTERS.values()}
    if path.suffix.lower() not in by_ending:
        what = (
            f"“{path.suffix}” is no ending of an export" if path.suffix else "the ending is missing"
        )
        raise UnusableError(what, where=str(path), cure=f"end the name in {_listed(by_ending)}")
    return by_ending[path.suffix.lower()]


def _listed(words: dict[str, Exporter]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}"
