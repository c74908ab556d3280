"""The fitted best of a run folder, in a file that runs no code when it is opened.

It is a skops file of allowed types, other libraries' models converted to scikit-learn's. An
extension's model with further types is pickled and signed, and opens on this computer alone.
"""

import contextlib
import io
from typing import Any

import joblib

from core.errors import UnusableError, write_error
from core.estimators.registry import types_of_extensions
from core.estimators.stored import archive, signed
from core.estimators.stored.allowed_types import KEPT
from core.tuning.runs.run_folder import RunFolder
from core.writing import whole_file

OPEN, SIGNED, OLD = "best.skops", "best.signed", "best.joblib"


def keep_best(folder: RunFolder, pipeline: Any) -> None:
    """Write the fitted best in place of an earlier one."""
    name, content = _content(pipeline)
    try:
        folder.restore()
        with whole_file(folder.path / name, is_private=True) as draft:
            draft.write_bytes(content)
        # An earlier version or an extension may have left the model under another name.
        for old_name in {OPEN, SIGNED, OLD} - {name}:
            (folder.path / old_name).unlink(missing_ok=True)
    except OSError as error:
        cure = "make room and resume the run; no trial is lost"
        raise write_error("the model", folder.path, error, cure, room=cure) from error


def has_best(folder: RunFolder) -> bool:
    """By this or an earlier version."""
    return any((folder.path / name).is_file() for name in (OPEN, SIGNED, OLD))


def may_open_best(folder: RunFolder) -> bool:
    """Whether `best_of` can probably open it, judged without reading it all."""
    if (folder.path / OPEN).is_file():
        return True
    try:
        signed.verified_content(folder.path / SIGNED)
    except (OSError, UnusableError):
        return False
    return True


def best_of(folder: RunFolder) -> Any:
    """The fitted pipeline that takes raw rows."""
    path = folder.path / OPEN
    try:
        if path.is_file():
            return archive.load_model(path, KEPT | types_of_extensions())
        path = folder.path / SIGNED
        if path.is_file():
            return joblib.load(io.BytesIO(signed.verified_content(path)))
    except (UnusableError, MemoryError):
        raise
    except Exception as error:  # another version's pickles may raise anything
        raise UnusableError(
            "the model of this run cannot be opened here", where=str(path), cure=_AGAIN
        ) from error
    if (folder.path / OLD).is_file():
        raise UnusableError(
            "an earlier version kept the model of this run in a file that could run code when it"
            " is opened",
            where=str(folder.path / OLD),
            cure=_AGAIN,
        )
    problem = "this run has no fitted model yet"
    raise UnusableError(problem, where=str(folder.path), cure="let it finish")


_AGAIN = "resume the run (tunescope resume), which fits the model again"


def _content(pipeline: Any) -> tuple[str, bytes]:
    from core.estimators.stored.plain_model import kept_pipeline  # imports much of scikit-learn

    with contextlib.suppress(UnusableError):  # else it is pickled, as those of extensions are
        pipeline = kept_pipeline(pipeline)
    stream = io.BytesIO()
    try:
        if archive.dump_model(pipeline, stream) <= KEPT | types_of_extensions():
            return OPEN, stream.getvalue()
    except (TypeError, ValueError, AttributeError):
        pass  # skops has no form for something inside
    stream = io.BytesIO()
    joblib.dump(pipeline, stream)
    return SIGNED, signed.sign_content(stream.getvalue())
