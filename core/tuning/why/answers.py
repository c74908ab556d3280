"""The questions that a finished run can be asked, and where their answers are kept.

Answers lie in the run's folder, so that a run that is opened later, and the report, have them too.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from core.errors import UnusableError
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import RunState
from core.tuning.why.dependence import dependence
from core.tuning.why.importance import importance
from core.tuning.why.judged import TASKS, Judged, seconds_of_fit
from core.tuning.why.learning import fits, learning_curve
from core.tuning.why.look import look_at_test_rows
from core.writing import write_whole

ROWS, IMPORTANCE, DEPENDENCE, LEARNING = "rows", "importance", "dependence", "learning"
SETTINGS = "settings"  # asks the trials alone: neither the data nor a model
FOLDER = "answers"
SOON = 6.0  # seconds up to which a question is answered unasked
_FORM = 1  # of the answers; others are not read


def asks(results: Mapping[str, Any] | None, task: str) -> bool:
    """Whether a run can be asked: it has results, and is about rows of a table."""
    return bool(results) and task in TASKS and not (results or {}).get("documents")


def seconds_before(question: str, state: RunState) -> float:
    """About how long an answer takes, told before: fits, and for columns the shuffling."""
    if question == SETTINGS:
        return SOON
    fit = seconds_of_fit(state)
    if question == LEARNING:
        folds = max(1, int((state.results or {}).get("folds") or 1))
        return fit + fits() * fit / folds
    return fit


def answers(judged: Judged, question: str, options: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The answer; of a long one what is known of it so far, several times.

    Raises:
        UnusableError: there is no such question.
    """
    if question == ROWS:
        yield look_at_test_rows(judged)
    elif question == IMPORTANCE:
        yield from importance(judged)
    elif question == DEPENDENCE:
        yield dependence(judged, str(options.get("column", "")), str(options.get("of", "")))
    elif question == LEARNING:
        yield from learning_curve(judged)
    else:
        raise UnusableError("there is no such question", where=question)


def answers_of_trials(state: RunState) -> Iterator[dict[str, Any]]:
    """The answer to what the trials tell by themselves, several times until it is whole."""
    from core.tuning.why.settings import settings_mattered  # Optuna costs half a second

    yield from settings_mattered(state)


def kept_answer(folder: RunFolder, results: Mapping[str, Any], question: str) -> dict | None:
    """An answer that was kept for these very results; None where there is none."""
    try:
        text = (folder.path / FOLDER / f"{question}.json").read_text(encoding="utf-8")
        kept = json.loads(text)
        if kept["of"] != key_of(results) or not isinstance(kept["answer"], dict):
            return None
        return dict(kept["answer"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def keep_answer(
    folder: RunFolder, results: Mapping[str, Any], question: str, answer: Mapping[str, Any]
) -> dict[str, Any]:
    """Keep an answer beside the run where there is room; what is shown, in plain JSON."""
    plain = dict(plain_answer(answer))
    text = json.dumps({"of": key_of(results), "answer": plain}, ensure_ascii=False)
    with contextlib.suppress(OSError):  # it can be worked out again
        if folder.path.is_dir():
            (folder.path / FOLDER).mkdir(exist_ok=True)
            write_whole(folder.path / FOLDER / f"{question}.json", text)
    return plain


def key_of(results: Mapping[str, Any]) -> str:
    """What tells the results of a run from those with another of its models."""
    text = json.dumps(plain_answer(results), sort_keys=True, default=str)
    return hashlib.sha256(f"{_FORM} {text}".encode()).hexdigest()[:16]


def plain_answer(value: Any) -> Any:
    """An answer without NaN and infinities, which JSON has not."""
    if isinstance(value, Mapping):
        return {str(key): plain_answer(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_answer(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
