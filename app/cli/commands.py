"""`tunescope`: exit status 0 done, 1 run or export failed, 2 unusable input, 130 interrupted."""

import argparse
import importlib
import os
import signal
import sys
from collections.abc import Sequence

from app.cli.interrupt_handler import INTERRUPTED, NOTHING_KEPT, heard_interrupts
from app.cli.parser import UNUSABLE, Parser, Version, storage_text
from app.cli.streams import safe_streams
from core.errors import UnusableError
from core.extensions import extension_errors

DONE, FAILED = 0, 1
_ENDED_BY_PERSON = (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGHUP)
# Module, function that adds commands, and their names, in the order of the help.
COMMANDS = (
    ("file_commands", "add_read", ("read",)),
    ("tune_command", "add_tune", ("tune",)),
    ("work_command", "add_work", ("work",)),
    ("file_commands", "add_predict", ("predict",)),
    ("past_run_commands", "add_runs", ("runs",)),
    ("past_run_commands", "add_replays", ("resume", "replay", "report")),
    ("past_run_commands", "add_export", ("export", "pick")),
    ("history_command", "add_history", ("history",)),
    ("program_commands", "add_lists", ("models", "strategies", "samples")),
    ("program_commands", "add_install", ("install",)),
    ("program_commands", "add_help", ("help",)),
)
USAGE = """tunescope                 open the window
       tunescope FILE            open the window on a table, a model or sample:NAME
       tunescope COMMAND …       work without a window
       tunescope COMMAND --help  what a command takes
       tunescope --self-test     try whether this installation works, in a minute or two"""
DESCRIPTION = "Tune machine-learning models while watching."


def build_parser(command: str = "") -> argparse.ArgumentParser:
    """Imports the modules of a command alone; of all where it is none."""
    parser = Parser(prog="tunescope", usage=USAGE, description=DESCRIPTION, closing=storage_text)
    parser.add_argument("--version", action=Version)
    commands = parser.add_subparsers(
        prog="tunescope", dest="command", metavar="COMMAND", required=True
    )
    named_entries = [entry for entry in COMMANDS if command in entry[2]]
    for module, function, _ in named_entries or COMMANDS:
        getattr(importlib.import_module(f"app.cli.{module}"), function)(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit status."""
    # Before numpy is loaded: more BLAS threads only get in the way of the trials.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    with safe_streams() as (out, _):
        words = sys.argv[1:] if arguments is None else arguments
        parsed_arguments = build_parser(words[0] if words else "").parse_args(words)
        # Set anew: a shell starts background jobs with interrupts ignored.
        with heard_interrupts():
            status = _exit_status(parsed_arguments)
        out.flush()
        # A reader of our output that has ended (head, less) wanted no more of it.
        if out.fault is None or isinstance(out.fault, BrokenPipeError):
            return status
        why = out.fault.strerror or type(out.fault).__name__
        print(f"tunescope: the output could not be written ({why}).", file=sys.stderr)
        return status or FAILED


def _exit_status(arguments: argparse.Namespace) -> int:
    try:
        return int(arguments.run(arguments))
    except UnusableError as error:
        from core.datasets.finding import FixableInputError

        print(f"tunescope: {error.sentence}", file=sys.stderr)
        if isinstance(error, FixableInputError):
            print(f"{error.offer.words}: {error.offer.option}", file=sys.stderr)
        return UNUSABLE
    except KeyboardInterrupt:
        print(f"tunescope: {NOTHING_KEPT}", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        from core.datasets.memory_limit import is_memory_error

        if not is_memory_error(error):
            raise
        cure = "close other programs, or give fewer rows"
        print(f"tunescope: there is not enough memory; {cure}.", file=sys.stderr)
        return FAILED
    finally:
        # At the end, for extensions are read when a command first needs them.
        for sentence in extension_errors():
            print(f"tunescope: {sentence}", file=sys.stderr)


def run_guarded(words: Sequence[str]) -> int:
    """Run on a stranger's model in a copy of this process, its memory bounded."""
    from core.datasets.memory_limit import limit_own_memory
    from core.processes import exit_text, watch_parent

    sys.stdout.flush()
    child = os.fork()
    if not child:
        watch_parent()
        limit_own_memory()
        return main(words)

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal interrupts the copy as well
    signal.signal(signal.SIGTERM, lambda number, _frame: os.kill(child, number))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code >= 0:
        return code
    if -code not in _ENDED_BY_PERSON:
        cause = exit_text(code, "process that opened the model")
        cure = "Give a model that Tunescope exported, or fewer rows at once."
        print(f"tunescope: {cause} {cure}", file=sys.stderr)
        return FAILED
    return 128 - code
