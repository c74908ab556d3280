"""The skops export: the fitted pipeline in a file whose opening runs no code of its own."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

from core.errors import UnusableError
from core.estimators.registry import types_of_extensions
from core.estimators.stored import archive
from core.estimators.stored.allowed_types import EXPORTED
from core.export.files.model_card import with_card
from core.export.finished_run import FinishedRun


def write(run: FinishedRun, path: Path) -> None:
    """Write the fitted pipeline, for ``skops.io.load(path, trusted=…)``."""
    from skops.io.exceptions import UnsupportedTypeException

    try:
        with path.open("wb") as file:
            archive.dump_model(with_card(run), file, zipfile.ZIP_DEFLATED)
    except UnsupportedTypeException as error:
        fault = f"skops cannot write this kind of model ({error})"
        raise UnusableError(fault, cure="export it as joblib instead") from error


def load_pipeline(path: Path) -> Any:
    """The pipeline in a skops file, of our types and of extensions' alone, or UnusableError."""
    return archive.load_model(path, EXPORTED | types_of_extensions())
