"""The command `tunescope`: the window, or a command without it."""

# Python has loaded these itself; whatever else is imported here could come from the working folder.
import os
import sys

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without its import
if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = (
    *("read", "tune", "work", "pick", "predict", "models", "strategies", "samples", "runs"),
    *("resume", "replay", "report", "export", "history", "install", "help"),
)
MIN_PYTHON = (3, 11)
# What the program is installed with; without one of these it is half an installation.
NEEDED = (
    *("numpy", "scipy", "sklearn", "pandas", "numba", "optuna", "cmaes", "skops", "joblib"),
    *("pyqtgraph", "contourpy", "threadpoolctl", "platformdirs", "python_calamine", "msgspec"),
    "markdown_it",
    *("core", "resources"),
)


def main(arguments: "Sequence[str] | None" = None) -> int:
    """Open the window (on a file), or run a command; returns the exit status."""
    if sys.version_info < MIN_PYTHON:
        required = ".".join(map(str, MIN_PYTHON))
        running = ".".join(map(str, sys.version_info[:2]))
        sys.stderr.write(
            f"tunescope: it needs Python {required} or newer, and this is Python "
            f"{running} ({sys.executable}); start it by packaging/run, which finds one.\n"
        )
        return 2
    try:
        status = start_program(arguments)
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in NEEDED:
            raise
        sys.stderr.write(
            f"tunescope: the installation is not whole, {error.name} is missing in {sys.prefix}; "
            "start it by packaging/run, which completes it, or install it again.\n"
        )
        status = 2
    if arguments is None:
        end_process(status)
    return status


def end_process(status: int) -> None:
    """End this process in order, but leave its memory to the system."""
    # Python would take all modules to pieces, which costs some .3 s of a run.
    import atexit
    import contextlib
    import threading

    # Waits for threads, and ends those of pools that nobody shut.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        # None, closed, or without a reader.
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.flush()
    os._exit(status)


def start_program(arguments: "Sequence[str] | None" = None) -> int:
    """Run the program once its requirements can be imported."""
    leave_working_folder()
    import multiprocessing

    if arguments is None:  # this process is ours alone
        from core.garbage_collection import collect_rarely

        collect_rarely()
    multiprocessing.freeze_support()
    from core.processes import reserve_stack

    words = list(sys.argv[1:] if arguments is None else arguments)
    return reserve_stack(run_words)(words, arguments is None)


def run_words(words: list[str], is_own_process: bool) -> int:
    """Do what the words of the command line ask for; returns the exit status."""
    if words == ["--self-test"]:
        from app.self_test.run_self_test import run_self_test as test_itself

        return test_itself()
    if is_own_process and words[:1] == ["predict"] and sys.platform == "linux":
        from app.cli.commands import run_guarded

        return run_guarded(words)
    if words and (words[0] in COMMANDS or words[0].startswith("-")):
        from app.cli import main as run_command

        if is_own_process:
            from core.datasets.memory_limit import limit_own_memory

            limit_own_memory()
        return run_command(words)
    file = words[0] if words else ""
    if file and not is_there(file):
        from app.cli.parser import no_such_file

        sys.stderr.write(f"{no_such_file(file, COMMANDS)}\n")
        return 2
    if len(words) > 1:
        sys.stderr.write(f"tunescope: the window opens one file, not {len(words)}.\n")
        return 2
    return open_window(file)


def is_there(file: str) -> bool:
    """Whether the argument may be a sample, a path, or a sheet of a workbook."""
    workbook = file.rpartition("#")[0]
    return file.startswith("sample:") or os.path.exists(file) or os.path.exists(workbook)


def is_endless(path: str) -> bool:
    """Whether it is a pipe or a device, for which whoever looks for packages would wait."""
    return os.path.exists(path) and not (os.path.isdir(path) or os.path.isfile(path))


def leave_working_folder() -> None:
    """Take the working folder off the module path, except where it is ours or on PYTHONPATH."""
    ours = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    python_path = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    absolute_folders = [folder for folder in python_path if os.path.isabs(folder)]
    allowed_folders = {ours, *map(os.path.realpath, absolute_folders)}
    library = os.path.dirname(os.__file__)
    first = sys.path.index(library) if library in sys.path else len(sys.path)
    try:
        working_folder = os.path.realpath(os.curdir)
    except OSError:  # the folder is gone
        working_folder = ""
    head = [folder for folder in sys.path[:first] if os.path.isabs(folder)]
    if working_folder not in allowed_folders:
        head = [folder for folder in head if os.path.realpath(folder) != working_folder]
    tail = [folder for folder in sys.path[first:] if os.path.isabs(folder)]
    sys.path[:] = [folder for folder in head + tail if not is_endless(folder)]
    # For child processes: no folder before ours, and ours where it is needed.
    os.environ["PYTHONSAFEPATH"] = "1"
    if ours in map(os.path.realpath, head) and ours not in map(os.path.realpath, absolute_folders):
        absolute_folders.append(ours)
    if absolute_folders or "PYTHONPATH" in os.environ:
        os.environ["PYTHONPATH"] = os.pathsep.join(absolute_folders)


def open_window(file: str) -> int:
    """Show the window until it is closed; without a display, use the terminal."""
    from app.diagnostics.displays import obstacle, refuse_bad_qt

    if why := obstacle():
        return without_window(why.sentence, file)
    import PySide6

    from core.errors import UnusableError

    try:
        refuse_bad_qt(PySide6.__version__)
    except UnusableError as error:
        sys.stderr.write(f"tunescope: {error.sentence}\n")
        return 2
    from app.window.open_window import run_window

    return run_window(file)


def without_window(why: str, file: str) -> int:
    """Tune a file in the terminal, or print how to."""
    from core.export.exportable_models import MODEL_ENDINGS

    sys.stderr.write(f"tunescope: {why}\n")
    if file and not file.lower().endswith(MODEL_ENDINGS):
        from app.cli import main as run_command

        sys.stderr.write(f"Without a window, {file} is tuned in the terminal.\n")
        return run_command(["tune", file])
    command_hint = "tunescope tune FILE tunes in the terminal; try tunescope tune sample:clinic"
    if file:
        command_hint = f"tunescope predict {file} FILE predicts with this model"
    sys.stderr.write(f"Without a window, {command_hint}.\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
