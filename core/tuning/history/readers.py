"""Which runs have read the history: what is forgotten has to go from them too, wherever they lie.

Beside the history's file stands a list of folders: the folder of all runs as it was then, and every
run that lies elsewhere.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Collection
from pathlib import Path

from core.errors import UnusableError
from core.tuning.history.database import exclusive
from core.tuning.history.traces import forget_in, reads_history
from core.tuning.runs.run_folder import EVENTS, runs_root
from core.writing import write_whole


def remember_reader(history: Path, run: Path) -> None:
    """Keep in mind that a run reads the history; where that cannot be written, nothing happens.

    Args:
        history: its file.
        run: the run's folder.
    """
    run = run.resolve()
    place = run.parent if run.parent == runs_root().resolve() else run
    if place not in _known(history):
        _change(history, lambda known: [*known, place])


def forget_in_readers(history: Path, ids: Collection[str] | None) -> list[str]:
    """Overwrite datasets in what runs have read; None for all but the starter history.

    Returns:
        A sentence for each folder that is gone, which is named once, or cannot be written.
    """
    known = _known(history)
    gone = [place for place in known if not place.is_dir()]
    said = [
        f"The folder {place} is gone; what its runs had read of the history could not be deleted"
        " from it."
        for place in gone
    ]
    for place in dict.fromkeys([runs_root().resolve(), *known]):
        said += map(_not_written, _forget_below(place, ids))
    if gone:
        _change(history, lambda known: [place for place in known if place not in gone])
    return said


def _forget_below(place: Path, ids: Collection[str] | None) -> list[Path]:
    """Forget in a run's folder, or in those of all runs there; those that cannot be written."""
    lost = []
    try:
        found = [place / EVENTS, *sorted(place.glob(f"*/{EVENTS}"))]
        found = [path for path in found if path.is_file()]
    except OSError:
        return [place]
    for path in found:
        try:
            forget_in(path, ids)
        except OSError:
            lost += [path.parent] if reads_history(path, ids) else []
        except ValueError:  # damaged
            continue
    return lost


def _not_written(run: Path) -> str:
    return (
        f"What the run {run} has read of the history could not be deleted from it; delete its"
        " folder, or give yourself the right to write there and forget again."
    )


def _list(history: Path) -> Path:
    return history.with_name(f"{history.stem}-runs.json")


def _known(history: Path) -> list[Path]:
    try:
        told = json.loads(_list(history).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    named = [one for one in told if isinstance(one, str)] if isinstance(told, list) else []
    return [Path(one) for one in named if os.path.isabs(one) and "\0" not in one]


def _change(history: Path, change: Callable[[list[Path]], list[Path]]) -> None:
    with contextlib.suppress(OSError, UnusableError), exclusive(history):
        write_whole(_list(history), json.dumps([str(place) for place in change(_known(history))]))
