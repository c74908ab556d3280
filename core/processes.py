"""Child processes: started with a pipe, ended within a limit, their exits in words.

No wait lasts for ever: a message that stops half-way counts as the end of its process.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import multiprocessing
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from core.awake_timer import AWAKE

Arguments = ParamSpec("Arguments")
Item = TypeVar("Item")
Result = TypeVar("Result")

LEAVES = 1.0  # seconds from the end of its pipe, or from SIGTERM, until a process is killed
STALLED = 3.0  # seconds without a byte, after which a message is given up half-way
BEAT_SECONDS = 0.5  # between two items of a forked process at most
MEMORY_SECONDS = 0.25  # between two looks at the memory of this process
MAIN_THREAD = "MainThread"  # Python's name of it; a copy keeps the name of the thread that made it
PARENT_SECONDS = 0.25  # between two looks whether a parent still runs
_QUERY_PROCESS = 0x1000  # PROCESS_QUERY_LIMITED_INFORMATION of Windows
_SIGNAL_OF_PARENTS_END = 1  # PR_SET_PDEATHSIG
NO_MEMORY = (
    "There was not enough memory for the result: allow more (--memory), or tune on fewer rows "
    "(--rows)."
)
PROC, GROUPS = Path("/proc"), Path("/sys/fs/cgroup")
_KILL_FILES = {"": "memory.events", "memory": "memory.oom_control"}  # by controller
KILLED = {-9, 137}
STACK_SLOTS = 33_000  # of 8 bytes: a little more than 256 KB, for which Python takes 512
OUT_OF_MEMORY = {0xC0000017}
CRASHED = {-4, -6, -7, -8, -11, 132, 134, 139, 0xC0000005, 0xC0000409, 0xC00000FD}
ENDED_BY_SOMEONE = {-1, -2, -15, 130, 143, 0xC000013A}


def processor_count() -> int:
    """How many processors this process may use, or what PYTHON_CPU_COUNT says, as Python 3.13."""
    count = os.environ.get("PYTHON_CPU_COUNT", "")
    if count.isdigit() and int(count) > 0:
        return int(count)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def reserve_stack(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """The function, within which Python asks the system for no more memory for its calls.

    Python keeps calls in chunks of 16 KB and gives a chunk back as soon as the calls in it have
    returned: imports that begin near the end of a chunk ask for the next some 20,000 times. A call
    that says that it needs a large chunk leaves the rest of it to the calls inside.
    """
    function.__code__ = function.__code__.replace(co_stacksize=STACK_SLOTS)
    return function


class ProcessLostError(Exception):
    """A process ended, or was ended, before its result; the text says why, as a sentence."""


class OwnedProcess:
    """One process and our end of its pipe.

    Args:
        context: of multiprocessing.
        serve: its main function, called as (its end of the pipe, *arguments).
        name: in a list of processes, and in the sentence about its exit.
        group: whether it has its own process group, killed with it; otherwise it has no children.

    Attributes:
        pipe: closed once the process has ended; an incomplete message raises OSError.
        forced: whether it was ended because it did not react.

    Raises:
        OSError: the system starts no more processes.
    """

    def __init__(
        self,
        context: Any,
        serve: Callable[..., None],
        *arguments: Any,
        name: str,
        group: bool = False,
    ) -> None:
        self.name, self.forced = name, False
        self._group = group
        self.deadline: float | None = None  # when `escalate` acts, in AWAKE.seconds
        self._kills_before = memory_kills()
        self.pipe, theirs = context.Pipe()
        try:
            _limit_waits(self.pipe)
            self._process = context.Process(
                # A daemon may have no children, and the processes of a group do.
                target=serve,
                args=(theirs, *arguments),
                name=f"tunescope {name}",
                daemon=not group,
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # other threads, where it forks
                self._process.start()
        except BaseException:
            self.pipe.close()
            raise
        finally:
            theirs.close()  # so that each side sees when the other is gone
        # The interpreter waits for its processes as it ends: none may be left by then.
        self._finalizer = weakref.finalize(self, _kill_process, self._process, group)

    @property
    def pid(self) -> int:
        """The process id."""
        return int(self._process.pid)

    @property
    def sentinel(self) -> int:
        """For multiprocessing.connection.wait: ready once the process has ended."""
        return int(self._process.sentinel)

    @property
    def is_alive(self) -> bool:
        """Whether it still runs."""
        return bool(self._process.is_alive())

    def expect_reaction(self, seconds: float | None) -> None:
        """Expect a reaction within so many seconds; None: it has reacted."""
        self.deadline = None if seconds is None else AWAKE.seconds + seconds

    def escalate(self) -> None:
        """After the deadline terminate the process, and kill it a second later."""
        if self.deadline is None or AWAKE.seconds < self.deadline:
            return
        if self.forced:
            _kill_process(self._process, self._group)
            self.expect_reaction(None)
        else:
            self.forced = True
            self._process.terminate()
            self.expect_reaction(LEAVES)

    def end_process(self, patience: float = 0.0) -> str:
        """Close its pipe, wait, kill what is left; why it ended, as a sentence."""
        # First the pipe: who waits for us there sees the end, and leaves by itself.
        self.pipe.close()
        self._process.join(patience)
        code = self._process.exitcode
        self._finalizer()
        self._process.join(LEAVES)
        with contextlib.suppress(ValueError):  # a disk that hangs keeps even the killed
            self._process.close()
        if code is None or self.forced:
            return f"The {self.name} did not react and was ended."
        return exit_text(code, self.name, memory_kills() > self._kills_before)

    def kill(self) -> None:
        """End it at once, from whatever thread; whoever reads its pipe sees the end."""
        with contextlib.suppress(ValueError):  # it has ended and was taken leave of
            _kill_process(self._process, self._group)


def stream_from_fork(
    stream: Generator[Item, None, Result],
    inbox: deque[Any],
    *,
    name: str,
    beat: Callable[[], Item],
    memory: int = 0,
) -> Generator[Item, None, Result]:
    """The items and the result of a generator that runs in a copy of this process.

    Killed where this is closed. Where processes cannot be copied, it runs here.

    Args:
        stream: not yet started.
        inbox: its items reach the copy's with the next item.
        name: as of `OwnedProcess`.
        beat: makes an item where none has come for `BEAT_SECONDS`; may raise to end it.
        memory: bytes that it may take beyond those of this process; 0 for any.

    Raises:
        ProcessLostError: it crashed, was killed, or lacked memory.
    """
    if sys.platform != "linux":  # elsewhere system libraries do not survive a copy
        return (yield from stream)
    context, arguments = multiprocessing.get_context("fork"), (stream, inbox, memory)
    process = OwnedProcess(context, _serve_stream, *arguments, name=name, group=True)
    # The copy has what was in it.
    inbox.clear()
    ended = False
    try:
        while True:
            if not process.pipe.poll(BEAT_SECONDS):
                yield beat()
                continue
            try:
                kind, content = process.pipe.recv()
            except (EOFError, OSError):
                ended = True
                raise ProcessLostError(process.end_process(LEAVES)) from None
            if kind == "result":
                return content
            if kind == "error":
                raise content
            yield content
            news = list(inbox)
            inbox.clear()
            with contextlib.suppress(OSError):  # the next look finds that it is gone
                process.pipe.send(news)
    finally:
        if not ended:
            process.end_process()


def _serve_stream(
    pipe: Any, stream: Generator[Any, None, Any], inbox: deque[Any], memory: int
) -> None:
    """Main function of a forked process."""
    # A group of its own, so that its children are killed with it.
    os.setpgid(0, 0)
    leave_to_parent()
    if "multiprocessing.forkserver" in sys.modules:  # that of the parent serves no other process
        multiprocessing.forkserver._forkserver._forkserver_pid = None  # type: ignore[attr-defined]
    if memory:
        limit_memory(memory + data_size())
    # A thread that is new to OpenMP makes its threads anew; those of the parent are not copied.
    thread = threading.Thread(target=_send_stream, args=(pipe, stream, inbox))
    thread.start()
    thread.join()


def _send_stream(pipe: Any, stream: Generator[Any, None, Any], inbox: deque[Any]) -> None:
    with contextlib.suppress(EOFError, OSError):  # the parent has ended
        try:
            while True:
                item = next(stream)
                pipe.send(("item", item))
                inbox.extend(pipe.recv())
        except StopIteration as end:
            pipe.send(("result", end.value))
        except MemoryError:
            pipe.send(("error", ProcessLostError(NO_MEMORY)))
        except Exception as error:
            # Pickle leaves the traceback behind; a note travels with the exception.
            error.add_note(traceback.format_exc())
            pipe.send(("error", error))


def leave_to_parent() -> None:
    """Leave interrupts to the parent, heed SIGTERM, and end soon after the parent."""
    # The socket is the parent's, who would take a signal here for one of its own.
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    watch_parent()


def watch_parent() -> None:
    """Leave soon after the parent has ended: the system sees to it, or a thread. Not on Windows."""
    parent = os.getppid()
    # At once, also while compiled code keeps Python busy. Only in a copy made by a main thread: the
    # end of another thread would count as the parent's.
    if sys.platform == "linux" and threading.main_thread().name == MAIN_THREAD:
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_SIGNAL_OF_PARENTS_END, signal.SIGKILL)
    threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()


def _leave_with(parent: int) -> None:
    # The fork server ends with its owner, and then its processes have another parent.
    while os.getppid() == parent:
        time.sleep(PARENT_SECONDS)
    sys.stderr.flush()
    os._exit(1)


def limit_memory(size: int) -> None:
    """Refuse this process more than so many bytes of its own, by a MemoryError.

    On Linux the system does so; elsewhere a thread looks, which code in C may outrun.
    """
    if sys.platform == "linux":
        import resource  # not on Windows

        hard_limit = resource.getrlimit(resource.RLIMIT_DATA)[1]
        with contextlib.suppress(OSError, ValueError):  # above a limit of the person's own
            resource.setrlimit(resource.RLIMIT_DATA, (size, hard_limit))
        return
    is_watched, _Bound.size = _Bound.size is not None, size
    if not is_watched:
        threading.Thread(target=_watch_memory, daemon=True).start()


class _Bound:
    size: int | None = None  # bytes of this process, where a thread looks after it


def _watch_memory() -> None:
    while True:
        time.sleep(MEMORY_SECONDS)
        if (memory_in_use([os.getpid()]) or 0) > (_Bound.size or math.inf):
            thread = ctypes.c_ulong(threading.main_thread().ident or 0)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(MemoryError))
            time.sleep(LEAVES)  # until it has let go of what it holds


def data_size() -> int:
    """The bytes that `limit_memory` counts."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmData:"):
                return int(line.split()[1]) * 1024
    return memory_in_use([os.getpid()]) or 0


def memory_in_use(pids: Iterable[int]) -> int | None:
    """Bytes of these processes together, without cached files; None if unknown.

    On Linux pages that they share are counted once.
    """
    if sys.platform == "linux":
        sizes = [_size_on_linux(pid) for pid in pids]
    elif sys.platform == "win32":
        sizes = [_size_on_windows(pid) for pid in pids]
    else:
        command = ["ps", "-o", "rss=", "-p", ",".join(map(str, pids))]
        with contextlib.suppress(OSError, ValueError, subprocess.SubprocessError):
            output = subprocess.run(command, capture_output=True, timeout=STALLED).stdout
            return 1024 * sum(map(int, output.split())) or None
        return None
    return sum(sizes) or None


def _size_on_linux(pid: int) -> int:
    with contextlib.suppress(OSError, ValueError):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
        kilobytes = {line.partition(":")[0]: line.split()[1] for line in lines[1:]}
        is_split = "Pss_Anon" in kilobytes  # since Linux 5.4
        names = ("Pss_Anon", "Pss_Shmem") if is_split else ("Pss",)
        return 1024 * sum(int(kilobytes[name]) for name in names)
    return 0


def _size_on_windows(pid: int) -> int:
    class Counters(ctypes.Structure):
        _fields_ = [
            ("length", ctypes.c_ulong),
            ("faults", ctypes.c_ulong),
            *((f"size_{index}", ctypes.c_size_t) for index in range(8)),
        ]

    counters = Counters(length=ctypes.sizeof(Counters))
    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined,unused-ignore]
    kernel.OpenProcess.restype = ctypes.c_void_p
    handle = ctypes.c_void_p(kernel.OpenProcess(_QUERY_PROCESS, False, pid))
    is_known = kernel.K32GetProcessMemoryInfo(handle, ctypes.byref(counters), counters.length)
    kernel.CloseHandle(handle)
    return int(counters.size_7) if is_known else 0  # PagefileUsage: committed private bytes


def _kill_process(process: Any, group: bool) -> None:
    if group and sys.platform != "win32":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def exit_text(code: int, name: str, out_of_memory: bool = False) -> str:
    """The exit status of a named process in words; negative statuses are signals.

    `out_of_memory` is whether the system killed a process for memory meanwhile.
    """
    # Windows' statuses, such as 0xC0000005, may come as negative numbers.
    code = code if code >= -64 else code + 2**32
    if code in OUT_OF_MEMORY or (code in KILLED and out_of_memory):
        return f"The {name} was stopped by the system, which was out of memory."
    if code in KILLED:
        return f"The {name} was killed (signal 9)."
    if code in CRASHED:
        return f"The {name} crashed inside a numerical library."
    if code in ENDED_BY_SOMEONE:
        return f"The {name} was ended by another program or by the system."
    return f"The {name} ended unexpectedly (exit status {code})."


def memory_kills() -> int:
    """How many processes the system has ended for want of memory; 0 where it does not tell."""
    files = [folder / _KILL_FILES[controller] for controller, folder in memory_groups()]
    return sum(_kill_count(path) for path in (PROC / "vmstat", *files))


def memory_groups() -> list[tuple[str, Path]]:
    """The control groups that limit this process's memory: the controller, and their folder."""
    try:
        lines = (PROC / "self/cgroup").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return []
    # Version 2 of control groups has one line without controllers, version 1 a line for each.
    entries = [[*line.split(":", 2), "", ""][1:3] for line in lines]
    return [
        (controller, GROUPS / controller / group.lstrip("/"))
        for controllers, group in entries
        for controller in sorted(_KILL_FILES.keys() & controllers.split(","))
    ]


def _kill_count(path: Path) -> int:
    try:
        lines = path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))


def _limit_waits(pipe: Any) -> None:
    # A pipe of multiprocessing is a pair of sockets, where the system has such: each read and each
    # write of it gets a limit, the wait for the first byte of a message being `poll`'s.
    if sys.platform == "win32":
        return
    seconds, fraction = divmod(STALLED, 1.0)
    limit = struct.pack("@ll", int(seconds), int(fraction * 1e6))
    with socket.socket(fileno=os.dup(pipe.fileno())) as end:
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            end.setsockopt(socket.SOL_SOCKET, option, limit)
