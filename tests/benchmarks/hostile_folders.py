"""Hostile files and folders in every place that a command reads, each met by a copy of it.

python tests/benchmarks/hostile_folders.py [--seed 0] [--count N] [--only WORD] [--short]

A case puts one thing (a pipe, a socket, a device, a link to itself, a terabyte, …) into one place
(the folder of runs, a run's plan, the history, a model, the key, …) and runs one command there. It
must end by itself within 5 seconds of the processor and 40 of the clock, with an answer or with a
sentence. Without --count every case is run once; `run` draws some of them.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import ctypes
import io
import os
import random
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = ROOT / "tests/earlier_version/files"
CPU_SECONDS, SECONDS = 5, 40.0
BYTES = 1 << 30  # that a command may take beyond what this process has
DONE = (0, 1, 2)
ENTRIES = 1_000_000
LINE_BYTES = 1 << 29
TRIALS = ["--model", "naive-bayes", "--strategy", "random", "--trials", "2", "--workers", "1"]

# ---------------------------------------------------------------------------- what is put there


def clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def put_pipe(path: Path) -> None:
    clear(path)
    os.mkfifo(path)


def put_socket(path: Path) -> None:
    clear(path)
    # The name of a socket may be no longer than some hundred bytes.
    before = os.getcwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as end:
            end.bind(path.name)
    finally:
        os.chdir(before)


def put_device(path: Path) -> None:
    clear(path)
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 5))  # an endless one, of zeros
    except PermissionError:  # who is not root has links to devices alone
        path.symlink_to("/dev/urandom")


def put_endless_link(path: Path) -> None:
    # Not to the system's own device, which a fault of a program that root runs could replace.
    put_device(device := path.with_name(f"{path.name}.device"))
    clear(path)
    path.symlink_to(device)


def put_loop(path: Path) -> None:
    clear(path)
    path.symlink_to(path.name)


def put_other_kind(path: Path) -> None:
    """A folder for a file, and a file for a folder."""
    is_folder = path.is_dir()
    clear(path)
    if is_folder:
        path.write_text("no folder")
    else:
        path.mkdir()


def put_terabyte(path: Path) -> None:
    clear(path)
    path.touch()
    os.truncate(path, 1 << 40)


def put_endless_line(path: Path) -> None:
    clear(path)
    path.write_bytes(b"x")
    os.truncate(path, LINE_BYTES)


def put_forbidden(path: Path) -> None:
    if not path.exists():
        path.touch()
    path.chmod(0)


@cache
def crowd() -> Path:
    """A folder of very many entries, made once."""
    folder = Path(tempfile.mkdtemp(prefix="crowd-"))
    for number in range(ENTRIES):
        os.close(os.open(folder / str(number), os.O_CREAT | os.O_WRONLY))
    folder.chmod(0o777)
    return folder


def put_crowd(path: Path) -> None:
    clear(path)
    path.symlink_to(crowd())


def put_odd_names(path: Path) -> None:
    """Entries whose names hold a line break, an escape sequence, or no text of UTF-8."""
    kept = path if path.is_dir() else path.parent
    for name in (b"two\nlines", b"\x1b]0;title\x07", b"\xff\xfe\x80", b"a" * 255, b"-rf"):
        try:
            (kept / os.fsdecode(name)).mkdir()
            (kept / os.fsdecode(name) / "plan.json").write_text("{}")
        except OSError:
            continue


def put_noise(path: Path) -> None:
    clear(path)
    path.write_bytes(random.Random(str(path.name)).randbytes(5000))


KINDS: dict[str, Callable[[Path], None]] = {
    "pipe": put_pipe,
    "socket": put_socket,
    "device": put_device,
    "endless link": put_endless_link,
    "loop": put_loop,
    "other kind": put_other_kind,
    "terabyte": put_terabyte,
    "endless line": put_endless_line,
    "forbidden": put_forbidden,
    "crowd": put_crowd,
    "odd names": put_odd_names,
    "noise": put_noise,
}

# --------------------------------------------------------------------------- where, and for whom

RUN_FILES = ("plan.json", "events.jsonl", "best.skops", "best.json", "label.json", "running")
OF_RUN = ("runs", "runs/RUN", *(f"runs/RUN/{name}" for name in RUN_FILES), "key")
OF_BIN = ("runs", "runs/bin", "runs/bin/OLD", "runs/bin/OLD/deleted.json", "runs/bin/OLD/plan.json")
HISTORY = tuple(f"history{ending}" for ending in ("", "-wal", "-shm", "-lock"))
SETTINGS = ("config/Tunescope", "config/Tunescope/tunescope.ini")
# {ending of a model: the data that it takes}
MODELS = {
    **dict.fromkeys(("skops", "joblib", "onnx"), "data.csv"),
    **dict.fromkeys(("npz", "json"), "tags.csv"),
    "zip": "pictures.csv",
}

# {command: (its words, the places that it reads)}
COMMANDS: dict[str, tuple[list[str], tuple[str, ...]]] = {
    "tune": (
        ["tune", "data.csv", *TRIALS, "--export", "out.skops", "--events", "events-out"],
        ("data.csv", "runs", "key", "out.skops", "events-out", *HISTORY),
    ),
    "tune with groups": (
        ["tune", "data.csv", "--model", "logistic", "--strategy", "mm", "--groups", "groups.json"],
        ("groups.json",),
    ),
    "tune on test": (["tune", "data.csv", "--test", "test.csv", *TRIALS], ("test.csv",)),
    "tune into": (["tune", "data.csv", *TRIALS, "--run-dir", "made"], ("made", "made/plan.json")),
    "read": (["read", "data.csv"], ("data.csv",)),
    "runs": (["runs"], (*OF_RUN, "runs/bin")),
    "runs json": (["runs", "--json"], OF_RUN),
    "bin": (["runs", "bin"], OF_BIN),
    "empty bin": (["runs", "bin", "--empty"], OF_BIN),
    "restore": (["runs", "restore", "OLD"], OF_BIN),
    "delete": (["runs", "delete", "RUN"], (*OF_RUN, "runs/bin", "runs/RUN/deleted.json")),
    "rename": (["runs", "rename", "RUN", "new"], OF_RUN),
    "note": (["runs", "note", "RUN"], OF_RUN),
    "replay": (["replay", "RUN"], OF_RUN),
    "replay last": (["replay", "last", "--json"], OF_RUN),
    "resume": (["resume", "RUN", "--trials", "1"], (*OF_RUN, *HISTORY, "data.csv")),
    "resume stop": (["resume", "RUN", "--stop"], OF_RUN),
    "work": (["work", "RUN", "--wait", "0"], (*OF_RUN, "runs/RUN/work")),
    "report": (["report", "RUN", "--out", "out.html"], (*OF_RUN, "out.html")),
    "export": (["export", "RUN", "out.skops"], (*OF_RUN, "out.skops")),
    "export trial": (["export", "RUN", "out.json", "--which", "1"], OF_RUN),
    "export study": (
        ["export", "RUN", "--format", "optuna", "--out", "study.log"],
        (*OF_RUN, "study.log"),
    ),
    "pick": (["pick", "RUN", "best"], OF_RUN),
    "predict run": (["predict", "RUN", "data.csv", "--out", "out.csv"], (*OF_RUN, "out.csv")),
    **{
        f"predict {ending}": (
            ["predict", f"model.{ending}", data, "--trust"],
            (f"model.{ending}", data),
        )
        for ending, data in MODELS.items()
    },
    "history": (["history"], HISTORY),
    "history off": (["history", "off"], HISTORY),
    "history export": (["history", "export", "out.json"], (*HISTORY, "out.json")),
    "history import": (["history", "import", "list.json"], (*HISTORY, "list.json")),
    "history delete": (["history", "delete", "--all"], (*HISTORY, "runs", "runs/RUN/events.jsonl")),
    "import study": (["history", "import-optuna", "study.log", "--model", "svm"], ("study.log",)),
    "import database": (
        ["history", "import-optuna", "study.db", "--model", "svm"],
        ("study.db", "study.db-wal"),
    ),
    "models": (["models"], ("packages",)),
    "strategies": (["strategies"], ("packages",)),
    "samples": (["samples"], ("runs", *HISTORY)),
    "install": (["install"], ("packages",)),
    "help": (["help", "--html", "pages"], ("pages", "pages/index.html")),
    "version": (["--version"], ("packages",)),
    "window": (["window"], (*OF_RUN, *OF_BIN[1:], *HISTORY, *SETTINGS, "model.skops", "data.csv")),
}
# A whole distribution that is a pipe, or whose files are, on the path of modules.
PACKAGE_FILES = ("", "/METADATA", "/entry_points.txt", "/RECORD")


@dataclass(frozen=True)
class Case:
    """One thing in one place, and the command that meets it."""

    command: str
    place: str
    kind: str

    def __str__(self) -> str:
        return f"{self.command} × {self.place} × {self.kind}"


SHORT = (  # once faults
    Case("models", "packages/odd-1.0.dist-info/entry_points.txt", "pipe"),
    Case("tune", "events-out", "endless link"),
    Case("runs", "runs", "forbidden"),
    Case("window", "runs/RUN", "forbidden"),
)


def all_cases() -> list[Case]:
    return [
        Case(command, place, kind)
        for command, (_, places) in COMMANDS.items()
        for place in places_of(places)
        for kind in KINDS
    ]


def places_of(places: tuple[str, ...]) -> Iterator[str]:
    for place in places:
        if place == "packages":
            yield "packages"
            yield from (f"packages/odd-1.0.dist-info{file}" for file in PACKAGE_FILES)
        else:
            yield place


@dataclass(frozen=True)
class World:
    """What a command finds: a small finished run, one in the bin, a history, models and data."""

    folder: Path

    @classmethod
    def make(cls, folder: Path) -> World:
        world = cls(folder)
        shutil.copy(FILES / "data/patients.csv", folder / "data.csv")
        shutil.copy(FILES / "data/patients.csv", folder / "test.csv")
        for name in ("tags", "pictures"):
            shutil.copy(FILES / f"data/{name}-new.csv", folder / f"{name}.csv")
        shutil.copy(FILES / "history.json", folder / "list.json")
        shutil.copy(FILES / "study.log", folder / "study.log")
        models = {"skops": "naive-bayes", "joblib": "gp-svm", "npz": "crf-mm", "json": "crf-mm"}
        for ending, name in {**models, "zip": "dlgm"}.items():
            shutil.copy(FILES / f"models/{name}.{ending}", folder / f"model.{ending}")
        (folder / "model.onnx").write_bytes(b"no graph")
        (folder / "groups.json").write_text('{"blood": ["blood_iron", "blood_salt"]}')
        (folder / "study.db").write_bytes(b"")
        package = folder / "packages/odd-1.0.dist-info"
        package.mkdir(parents=True)
        (package / "METADATA").write_text("Metadata-Version: 2.1\nName: odd\nVersion: 1.0\n")
        (package / "RECORD").write_text("")
        (package / "entry_points.txt").write_text("[tunescope.models]\nodd = nothing.here:X\n")
        for name in ("RUN", "OLD"):
            words = ["tune", "data.csv", *TRIALS, "--run-dir", f"runs/{name}"]
            status, output, _ = run_words(words, folder)
            if status:
                raise RuntimeError(output)
        words = ["runs", "delete", "OLD"]
        status, output, _ = run_words(words, folder)
        if status:
            raise RuntimeError(output)
        shutil.rmtree(folder / "tmp")
        return world

    def copy_to(self, folder: Path) -> Path:
        shutil.copytree(self.folder, folder, symlinks=True)
        return folder


# ------------------------------------------------------------------------------- one case at work


def run_words(words: list[str], folder: Path) -> tuple[int, str, float]:
    """Exit status (negative for a signal), output and processor seconds of a command in a copy."""
    with tempfile.TemporaryFile() as output:
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if not child:
            live_in(folder, output.fileno())
            os._exit(status_of(words))
        began, ended = time.monotonic(), 0
        while not ended and time.monotonic() < began + SECONDS:
            ended, status, usage = os.wait4(child, os.WNOHANG)
            time.sleep(0.005)
        kill_group(child)
        if not ended:
            _, _, usage = os.wait4(child, 0)
            status = 0
        output.seek(0)
        text = output.read(1 << 20).decode(errors="replace")
    if not ended:
        return -99, f"{text}\nit hangs", usage.ru_utime + usage.ru_stime
    return os.waitstatus_to_exitcode(status), text, usage.ru_utime + usage.ru_stime


def kill_group(child: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)


def live_in(folder: Path, output: int) -> None:
    """Make this copy a program of its own in a folder, with bounds."""
    from core.processes import data_size, limit_memory

    atexit._clear()  # the scratch folder is not the copy's to remove
    os.setsid()
    for stream in (1, 2):
        os.dup2(output, stream)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    sys.stdin, sys.stdout, sys.stderr = (
        io.TextIOWrapper(io.FileIO(number, mode, closefd=False), "utf-8", errors)
        for number, mode, errors in ((0, "r", None), (1, "w", None), (2, "w", "backslashreplace"))
    )
    os.chdir(folder)
    os.environ.update(
        TUNESCOPE_RUNS=str(folder / "runs"),
        TUNESCOPE_HISTORY=str(folder / "history"),
        TUNESCOPE_KEY=str(folder / "key"),
        HOME=str(folder),
        XDG_CONFIG_HOME=str(folder / "config"),
        TMPDIR=str(folder / "tmp"),
        QT_QPA_PLATFORM="offscreen",
    )
    (folder / "tmp").mkdir(exist_ok=True)
    tempfile.tempdir = str(folder / "tmp")
    obey_modes()
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS + 1, CPU_SECONDS + 2))
    limit_memory(BYTES + data_size())


def obey_modes() -> None:
    """Let a file's mode keep even root out, whose rights to pass by it are given up."""
    if sys.platform == "linux" and os.getuid() == 0:
        libc = ctypes.CDLL(None)
        header, rights = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
        libc.capget(header, rights)
        for index in (0, 1, 2):  # effective, permitted, inheritable
            rights[index] &= ~0b110  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
        libc.capset(header, rights)


def status_of(words: list[str]) -> int:
    """The exit status of a command, 70 for a traceback."""
    import traceback

    from app.__main__ import main

    try:
        sys.argv = ["tunescope", *words]
        sys.path.append(str(Path.cwd() / "packages"))
        if words == ["window"]:
            from hostile_window import walk

            return walk(Path("runs").absolute())
        return main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 2
    except BaseException:
        traceback.print_exc()
        return 70
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


def fault_of(case: Case, world: World, scratch: Path) -> str:
    """What a case does wrong, in a line and its output; "" for nothing."""
    folder = world.copy_to(scratch / "case")
    try:
        place = folder / case.place
        place.parent.mkdir(parents=True, exist_ok=True)
        KINDS[case.kind](place)
        started = time.monotonic()
        status, output, seconds = run_words(COMMANDS[case.command][0], folder)
        waited = time.monotonic() - started
    finally:
        subprocess.run(["chmod", "-R", "u+rwX", str(folder)], check=False, capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)
    if status not in DONE or "Traceback" in output:
        return f"{case}: status {status}\n{output[-3000:]}"
    if seconds > CPU_SECONDS:
        return f"{case}: {seconds:.1f} s of the processor, {waited:.1f} of the clock"
    if status == 2 and not any(line.endswith((".", "?")) for line in output.splitlines()):
        return f"{case}: no sentence\n{output[-3000:]}"
    return ""


def import_all() -> None:
    """What commands import, so that their copies need not; trials are tried in the copy itself."""
    import hostile_window  # noqa: F401

    import app.cli.commands  # noqa: F401
    import core.export.exporters
    import core.export.optuna_study
    import core.export.prediction
    import core.export.using.file_prediction
    import core.tuning.history.store  # noqa: F401
    from core.tuning import tune
    from core.tuning.results import conclude

    sys.path.append(str(ROOT / "tests/core/tuning"))
    from run_events import executor_here

    tune.tune.__kwdefaults__["executor"] = executor_here
    conclude.stream_from_fork = lambda stream, *_, **__: stream


def findings_of(cases: Sequence[Case], world: World, scratch: Path) -> Iterator[str]:
    for case in cases:
        if fault := fault_of(case, world, scratch):
            print(f"{fault}\n", flush=True)
            yield fault


def run(count: int, seed: int, only: str = "") -> list[str]:
    """The faults of some cases, drawn by the seed (all of them where `count` is 0)."""
    cases = [case for case in all_cases() if only in str(case)]
    if count:
        cases = random.Random(seed).sample(cases, min(count, len(cases)))
    return run_cases(cases)


def run_cases(cases: Sequence[Case]) -> list[str]:
    """The faults of these cases."""
    warnings.simplefilter("ignore")
    import_all()
    with tempfile.TemporaryDirectory(prefix="hostile-") as scratch:
        Path(scratch).chmod(0o755)
        base = Path(scratch) / "base"
        base.mkdir()
        try:
            return list(findings_of(cases, World.make(base), Path(scratch)))
        finally:
            if crowd.cache_info().currsize:
                shutil.rmtree(crowd())
                crowd.cache_clear()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=0, help="cases (default: all)")
    parser.add_argument("--only", default="", help="cases whose name holds this")
    parser.add_argument("--short", action="store_true", help="some cases that were faults once")
    arguments = parser.parse_args()
    faults = (
        run_cases(SHORT)
        if arguments.short
        else run(arguments.count, arguments.seed, arguments.only)
    )
    print(f"{len(faults)} faults")
    return int(bool(faults))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    raise SystemExit(main())
