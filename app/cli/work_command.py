"""`tunescope work`: this process joins a run, takes trials of it, and leaves."""

import argparse
import sys
from typing import Any

from app.cli.interrupt_handler import INTERRUPTED
from app.cli.past_run_commands import resume_run
from app.cli.progress_line import ProgressLine
from app.cli.streams import print_remark
from app.cli.tune_arguments import add_ending
from core.errors import UnusableError
from core.tuning.runs.run_folder import RunFolder


def add_work(commands: Any) -> None:
    """Add the command."""
    work = commands.add_parser("work", help="join a run, on any computer that sees its folder")
    work.add_argument("folder", metavar="RUN")
    work.add_argument("--workers", type=int, default=1, metavar="N")
    work.add_argument("--wait", type=float, default=10.0, metavar="MINUTES")
    add_ending(work)
    # Of `resume`, by which a worker coordinates.
    work.set_defaults(trials=0, minutes=0.0, stop=False, memory="", cluster="")
    work.set_defaults(tls_ca="", tls_cert="", tls_key="", leaves=True, run=_join_run)


def _join_run(arguments: argparse.Namespace) -> int:
    from core.tuning.cluster.shared_worker import SharedWorker

    for name, value, least in (("workers", arguments.workers, 1), ("wait", arguments.wait, 0)):
        if not value >= least:
            cure = f"give at least {least}"
            raise UnusableError(f"“{value:g}” is out of range", where=f"--{name}", cure=cure)
    folder, line = RunFolder.find_run(arguments.folder), ProgressLine(sys.stderr)
    print_remark(f"Joining the run {folder.address}.")
    worker = SharedWorker(folder, arguments.workers, 60 * arguments.wait, line.show_line)
    try:
        turn = worker.take_trials()
    except KeyboardInterrupt:
        print_remark(f"tunescope: this process has left the run {folder.address}, which goes on.")
        return INTERRUPTED
    finally:
        line.close()
    if turn is None:
        print_remark(f"The trials of this run have ended; {worker.trial_count} were made here.")
        return 0
    print_remark("No other process coordinates this run: from now on this one does.")
    arguments.folder = str(folder.path)
    try:
        return resume_run(arguments)
    finally:
        turn.close()
