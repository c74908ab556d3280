"""The questions about a finished run; answers are stored in its folder, for the report too."""

import contextlib
import hashlib
import json
from collections.abc import Iterator

from core.errors import UnusableError
from core.json_reading import read_as
from core.ordinary_files import read_ordinary
from core.records import JsonObject, strict_json, to_plain
from core.tuning.run_results import Results
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import RunState
from core.tuning.why.answer_types import (
    Answer,
    ClassDiagnostics,
    ColumnImportance,
    Dependence,
    LearningCurve,
    NoAnswer,
    RegressionDiagnostics,
    SettingImportance,
)
from core.tuning.why.column_dependence import dependence
from core.tuning.why.column_importance import importance
from core.tuning.why.more_rows import learning_curve
from core.tuning.why.questions import DEPENDENCE, FOLDER, IMPORTANCE, LEARNING, ROWS, SETTINGS
from core.tuning.why.test_diagnostics import test_diagnostics
from core.tuning.why.tested_model import TestedModel
from core.writing import write_whole

_FORM = 1  # of the answers; others are not read
_TYPES: dict[str, type[Answer]] = {
    IMPORTANCE: ColumnImportance,
    DEPENDENCE: Dependence,
    LEARNING: LearningCurve,
    SETTINGS: SettingImportance,
}


def answers(tested_model: TestedModel, question: str, column: str = "") -> Iterator[Answer]:
    """The answer, for a long one after partial answers."""
    if question == ROWS:
        yield test_diagnostics(tested_model)
    elif question == IMPORTANCE:
        yield from importance(tested_model)
    elif question == DEPENDENCE:
        yield dependence(tested_model, column)
    elif question == LEARNING:
        yield from learning_curve(tested_model)
    else:
        raise UnusableError("there is no such question", where=question)


def answers_of_trials(state: RunState) -> Iterator[SettingImportance | NoAnswer]:
    """The answer from the trials alone, after partial answers."""
    from core.tuning.why.setting_importance import setting_importance  # Optuna costs half a second

    return setting_importance(state)


def kept_answer(folder: RunFolder, results: Results, question: str) -> Answer | None:
    """A stored answer for exactly these results; None for none."""
    try:
        content = json.loads(read_ordinary(folder.path / FOLDER / f"{question}.json"))
        # A run that went on, or of which another model was chosen, has other answers.
        if content["of"] != key_of(results) or not isinstance(content["answer"], dict):
            return None
        return read_answer(question, content["answer"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def keep_answer(folder: RunFolder, results: Results, question: str, answer: Answer) -> Answer:
    """Store an answer if the disk has room; the answer as `kept_answer` reads it."""
    plain = answer_to_json(answer)
    text = json.dumps({"of": key_of(results), "answer": plain}, ensure_ascii=False)
    with contextlib.suppress(OSError):  # it can be worked out again
        if folder.path.is_dir():
            (folder.path / FOLDER).mkdir(mode=0o700, exist_ok=True)
            write_whole(folder.path / FOLDER / f"{question}.json", text, is_private=True)
    return read_answer(question, plain)


def key_of(results: Results) -> str:
    """A hash that changes with the results."""
    text = json.dumps(strict_json(to_plain(results)), sort_keys=True, default=str)
    return hashlib.sha256(f"{_FORM} {text}".encode()).hexdigest()[:16]


def answer_to_json(answer: Answer) -> JsonObject:
    """An answer as it is stored, without NaN and infinities."""
    plain = strict_json(to_plain(answer))
    if gain := plain.get("gain"):
        gain |= {"from": gain.pop("from_rows"), "to": gain.pop("to_rows")}
    return plain


def read_answer(question: str, plain: JsonObject) -> Answer:
    """The answer that `answer_to_json` wrote; a KeyError or ValueError for another form."""
    if "problem" in plain:
        return read_as(NoAnswer, plain)
    if question == ROWS:
        return read_as(RegressionDiagnostics if "residuals" in plain else ClassDiagnostics, plain)
    if gain := plain.get("gain"):
        gain = {**gain, "from_rows": gain["from"], "to_rows": gain["to"]}
        plain = {**plain, "gain": gain}
    return read_as(_TYPES[question], plain)
