"""The skops export: the fitted pipeline in a file whose opening runs no code of its own."""

from __future__ import annotations

import importlib
import zipfile
from pathlib import Path
from typing import Any

from core.errors import UnusableError
from core.export.files.model_card import with_card
from core.export.finished_run import FinishedRun

# Classes of these packages hold numbers and rules; functions are another matter (pandas alone
# could read and run any file), so only the three that the preparation uses are let in.
_PACKAGES = ("sklearn.", "numpy.", "scipy.sparse.")
_FUNCTIONS = ("numpy.asarray", "numpy.expand_dims", "pandas.to_datetime")


def write(run: FinishedRun, path: Path) -> None:
    """Write the fitted pipeline; ``skops.io.load(path, trusted=…)`` gives it back."""
    import skops.io
    from skops.io.exceptions import UnsupportedTypeException

    try:
        skops.io.dump(with_card(run), path, compression=zipfile.ZIP_DEFLATED)
    except UnsupportedTypeException as error:
        raise UnusableError(
            f"skops cannot write this kind of model ({error})", cure="export it as joblib instead"
        ) from error


def load(path: Path) -> Any:
    """The pipeline in a skops file, if it holds nothing but scikit-learn's kind of objects.

    Raises:
        UnusableError: it is no skops file, is damaged, or holds objects of other packages.
    """
    import skops.io

    try:
        unknown = skops.io.get_untrusted_types(file=path)
    except Exception as error:
        # Damaged archives and schemas raise many kinds; each means the same to a person.
        raise _damaged(path) from error
    strangers = [name for name in unknown if not _is_trusted(name)]
    if strangers:
        raise UnusableError(
            f"the file holds objects that no Tunescope model has ({', '.join(strangers[:3])})",
            where=str(path),
            cure="open only model files whose origin you know",
        )
    try:
        return skops.io.load(path, trusted=unknown)
    except Exception as error:
        raise _damaged(path) from error


def _is_trusted(name: str) -> bool:
    if name in _FUNCTIONS:
        return True
    module, _, attribute = name.rpartition(".")
    if not name.startswith(_PACKAGES):
        return False
    try:
        return isinstance(getattr(importlib.import_module(module), attribute, None), type)
    except ImportError:
        return False


def _damaged(path: Path) -> UnusableError:
    return UnusableError(
        "this is no skops model file, or it is damaged",
        where=str(path),
        cure="export the model again",
    )
