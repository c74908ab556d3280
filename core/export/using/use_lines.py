"""The lines that use a run's model: as a command, in Python, in the window."""

import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from core.extras import own_command
from core.tuning.runs.run_folder import runs_root


@dataclass(frozen=True)
class UseLine:
    """One way to use a model."""

    title: str
    line: str  # as it can be pasted


def use_lines(run: str, rows: str, saved_file: str = "", *, is_tuned: bool) -> list[UseLine]:
    """Ways to use a model of a run, the quickest first.

    Args:
        run: the run's folder.
        rows: a name for new rows, in the format of the data.
        saved_file: where a model file was saved; "" for none.
        is_tuned: whether the model is the run's own, which needs no file.
    """
    model = saved_file or (run if is_tuned else "")
    # In the usual folder of runs a name suffices.
    name = Path(run).name if Path(run).parent == runs_root() else run
    lines = []
    if model:
        command, quoted_model = own_command(), _quote_path(model)
        predict = f"{command} predict {_quote_path(saved_file or name)} {rows} --out answers.csv"
        lines = [
            UseLine("In a terminal", predict),
            UseLine("In the window", f"{command} {quoted_model}"),
        ]
    if is_tuned:
        python = f"import tunescope; tunescope.open_run({name!r}).model.predict(rows)"
        lines.insert(1, UseLine("In Python, rows a table of pandas", python))
    return lines


def _quote_path(path: str) -> str:
    # shlex quotes for POSIX alone.
    return subprocess.list2cmdline([path]) if sys.platform == "win32" else shlex.quote(path)
