"""The joblib export: the fitted pipeline in the usual format of scikit-learn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import joblib

from core.errors import UnusableError
from core.export.files.model_card import with_card
from core.export.finished_run import FinishedRun


def write(run: FinishedRun, path: Path) -> None:
    """Write the fitted pipeline, for ``joblib.load``."""
    joblib.dump(with_card(run), path, compress=("zlib", 3))


def load_pipeline(path: Path) -> Any:
    """The pipeline in a joblib file, whose opening can run code in it, or UnusableError."""
    try:
        return joblib.load(path)
    except ImportError as error:
        fault = f"this model needs “{error.name}”, which is not installed here"
        cure = "install it, or export the model again from Tunescope"
        raise UnusableError(fault, where=str(path), cure=cure) from error
    except Exception as error:
        # Unpickling damaged bytes may raise anything.
        fault = "this is no joblib model file, or it is damaged"
        raise UnusableError(fault, where=str(path), cure="export the model again") from error
