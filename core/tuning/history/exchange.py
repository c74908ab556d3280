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
from core.records import JsonObject
from core.tuning.history.dataset_records import DatasetRecord, StoredTrial
from core.tuning.history.record_checks import (
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


def as_json(records: Iterable[DatasetRecord]) -> str:
    """Datasets as text, one per line."""
    plain = map(_record_dict, records)
    lines = [json.dumps(entry, ensure_ascii=False, allow_nan=False) for entry in plain]
    head = f'{{"tunescope_history": {VERSION}, "datasets": ['
    return head + "\n" + ",\n".join(lines) + "\n]}\n"


def records_in(text: str) -> tuple[list[DatasetRecord], list[str]]:
    """The datasets of a text, and a sentence for each that is damaged.

    Raises:
        UnusableError: it is no history, or one of a newer version.
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _no_history() from error
    version = content.get("tunescope_history") if isinstance(content, dict) else None
    if type(version) is not int or not isinstance(content.get("datasets"), list):
        raise _no_history()
    if version > VERSION:
        raise UnusableError(
            f"the file is of a newer version ({version}) than this program knows ({VERSION})",
            cure="update Tunescope",
        )
    records, left_out = [], []
    for number, plain in enumerate(content["datasets"], start=1):
        try:
            records.append(_parse_record(plain))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            left_out.append(f"Dataset {number} of the file is damaged and was left out.")
    return records, left_out


def _no_history() -> UnusableError:
    cure = "choose a JSON file that Tunescope exported"
    return UnusableError("the file is no history of datasets", cure=cure)


def _record_dict(record: DatasetRecord) -> JsonObject:
    return {
        "id": record.id,
        **{name: getattr(record, name) for name in TEXTS},
        "maximize": record.maximize,
        "statistics": list(record.statistics),
        "axes": list(record.axes),
        "trials": [[trial.number, trial.score, *trial.values] for trial in record.trials],
    }


def _parse_record(plain: JsonObject) -> DatasetRecord:
    """Raise KeyError, TypeError, AttributeError or ValueError on a wrong shape."""
    axes = sound_names(plain["axes"])
    if not re.fullmatch(r"[0-9a-f]{1,64}", plain["id"]):
        raise ValueError("not an id")
    return DatasetRecord(
        id=plain["id"],
        **{name: sound_text(plain[name]) for name in TEXTS},
        maximize=sound_flag(plain["maximize"]),
        statistics=sound_statistics(plain["statistics"]),
        axes=axes,
        trials=tuple(_parse_trial(row, len(axes)) for row in plain["trials"]),
    )


def _parse_trial(row: list[Any], width: int) -> StoredTrial:
    number, score, *values = row
    if len(values) != width or not all(map(is_plain, values)):
        raise ValueError("not a setting")
    if type(number) is not int or not 0 <= number < LARGEST:
        raise ValueError("not a trial's number")
    return StoredTrial(number, tuple(values), sound_score(score))


def starter_records() -> list[DatasetRecord]:
    """The history that comes with the program; nothing where a package lacks its file."""
    file = files("resources") / "starter_history.json"
    if not file.is_file():
        return []
    return records_in(file.read_text(encoding="utf-8"))[0]
