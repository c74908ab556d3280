"""The history as JSON: one object a dataset, its trials as short rows.

{"tunescope_history": 1, "datasets": [
 {"id": …, "began": …, "model": …, "task": …, "metric": …, "maximize": …, "strategy": …,
  "statistics": [log rows, log features, classes], "axes": [names],
  "trials": [[number, score, a value for every axis], …]}, …]}
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from core.errors import UnusableError
from core.tuning.history.records import Record, Trial
from core.tuning.history.soundness import (
    LARGEST,
    is_plain,
    sound_flag,
    sound_names,
    sound_score,
    sound_statistics,
    sound_text,
)

VERSION = 1
TEXTS = ("began", "model", "task", "metric", "strategy")


def as_json(records: Iterable[Record]) -> str:
    """Datasets as text, a line each."""
    lines = [json.dumps(_plain(record), ensure_ascii=False, allow_nan=False) for record in records]
    head = f'{{"tunescope_history": {VERSION}, "datasets": ['
    return head + "\n" + ",\n".join(lines) + "\n]}\n"


def records_in(text: str) -> tuple[list[Record], list[str]]:
    """The datasets of a text, and a sentence for each that cannot be understood.

    Raises:
        UnusableError: it is no history, or one of a newer version.
    """
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _no_history() from error
    version = whole.get("tunescope_history") if isinstance(whole, dict) else None
    if type(version) is not int or not isinstance(whole.get("datasets"), list):
        raise _no_history()
    if version > VERSION:
        raise UnusableError(
            f"the file is of a newer version ({version}) than this program knows ({VERSION})",
            cure="update Tunescope",
        )
    records, left_out = [], []
    for place, plain in enumerate(whole["datasets"], start=1):
        try:
            records.append(_record(plain))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            left_out.append(f"Dataset {place} of the file is damaged and was left out.")
    return records, left_out


def _no_history() -> UnusableError:
    return UnusableError(
        "the file is no history of datasets", cure="choose a JSON file that Tunescope exported"
    )


def _plain(record: Record) -> dict[str, Any]:
    return {
        "id": record.id,
        **{name: getattr(record, name) for name in TEXTS},
        "maximize": record.maximize,
        "statistics": list(record.statistics),
        "axes": list(record.axes),
        "trials": [[one.number, one.score, *one.values] for one in record.trials],
    }


def _record(plain: dict[str, Any]) -> Record:
    """Raises what plain Python raises on a wrong shape, or ValueError."""
    axes = sound_names(plain["axes"])
    if not re.fullmatch(r"[0-9a-f]{1,64}", plain["id"]):
        raise ValueError("not an id")
    return Record(
        id=plain["id"],
        **{name: sound_text(plain[name]) for name in TEXTS},
        maximize=sound_flag(plain["maximize"]),
        statistics=sound_statistics(plain["statistics"]),
        axes=axes,
        trials=tuple(_trial(row, len(axes)) for row in plain["trials"]),
    )


def _trial(row: list[Any], width: int) -> Trial:
    number, score, *values = row
    if len(values) != width or not all(map(is_plain, values)):
        raise ValueError("not a setting")
    if type(number) is not int or not 0 <= number < LARGEST:
        raise ValueError("not a trial's number")
    return Trial(number, tuple(values), sound_score(score))


def starter_records() -> list[Record]:
    """What comes with the program; nothing where the file was left out of a package."""
    file = files("resources") / "starter_history.json"
    if not file.is_file():
        return []
    return records_in(file.read_text(encoding="utf-8"))[0]
