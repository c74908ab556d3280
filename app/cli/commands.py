"""`tunescope` on the command line: arguments, exit status, and one line for what went wrong.

Exit status: 0 done, 1 the run or an export failed, 2 unusable input, 130 interrupted with the best
so far kept.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from app.cli import exporting, history, listing, past, picking, predicting, reproducing, tuning
from app.cli.streams import heard
from core.errors import UnusableError
from core.extensions import faults

DONE, FAILED, UNUSABLE, INTERRUPTED = 0, 1, 2, 130
PARTS = (tuning, predicting, past, picking, exporting, history, listing, reproducing)


class _Parser(argparse.ArgumentParser):
    """A parser whose complaint is one line."""

    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: {message}. See {self.prog} --help.", file=sys.stderr)
        raise SystemExit(UNUSABLE)


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    whole = _Parser(
        prog="tunescope",
        description="Tune machine-learning models while watching. Without a command: the window.",
    )
    commands = whole.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for part in PARTS:
        part.add_to(commands)
    return whole


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    # Before numpy is loaded: more BLAS threads only get in the way of the trials.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    with heard() as (out, _):
        given = parser().parse_args(arguments)
        signal.signal(signal.SIGTERM, _as_interrupt)
        # A shell starts what runs in the background with interrupts ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        status = _status(given)
        out.flush()
        if out.fault is None or isinstance(out.fault, BrokenPipeError):
            return status  # the reader of our output has gone (head, less): nothing is left to say
        why = out.fault.strerror or type(out.fault).__name__
        print(f"tunescope: the output could not be written ({why}).", file=sys.stderr)
        return status or FAILED


def _status(given: argparse.Namespace) -> int:
    """The exit status of a command, with a line for what went wrong."""
    try:
        return int(given.run(given))
    except UnusableError as error:
        print(f"tunescope: {error.sentence}", file=sys.stderr)
        return UNUSABLE
    except KeyboardInterrupt:
        print("tunescope: interrupted before there was anything to keep.", file=sys.stderr)
        return INTERRUPTED
    finally:
        for sentence in faults():
            print(f"tunescope: {sentence}", file=sys.stderr)


def _as_interrupt(signal_number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt
