"""The npz export: a model of sequences or molecules as named arrays for numpy."""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from core.datasets.files.unpacking_limits import check_archive
from core.errors import UnusableError
from core.export.files.parameter_arrays import Arrays, arrays_of, check_arrays
from core.export.finished_run import FinishedRun

# Of zipfile, zlib and numpy for damaged bytes, excessive sizes and encryption.
_READ_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, ValueError, EOFError, KeyError, OSError, MemoryError),
    *(NotImplementedError, RuntimeError, TypeError, SyntaxError),
)


def write(run: FinishedRun, path: Path) -> None:
    """Write the arrays; ``numpy.load(path, allow_pickle=False)`` gives them back."""
    path.write_bytes(npz_bytes(arrays_of(run)))


def npz_bytes(arrays: Arrays) -> bytes:
    """The bytes of an npz file."""
    if any(np.asarray(array).dtype.hasobject for array in arrays.values()):
        raise TypeError("objects would be pickled, and nobody could read them")
    stream = io.BytesIO()
    named: dict[str, Any] = dict(arrays)
    np.savez_compressed(stream, **named)
    return stream.getvalue()


def load_arrays(path: Path) -> Arrays:
    """The arrays in an npz file; no code is run. UnusableError: damaged, too large, no model."""
    try:
        with zipfile.ZipFile(path) as file:
            check_archive(file, path)
        with np.load(path, allow_pickle=False) as arrays:
            contents = {name: arrays[name] for name in arrays.files}
    except _READ_ERRORS as error:
        raise damaged_npz_error(path) from error
    return check_arrays(contents, str(path))


def damaged_npz_error(path: Path) -> UnusableError:
    """The error for a file whose bytes do not fit its ending."""
    return UnusableError(
        f"this is no {path.suffix.lower()} model file, or it is damaged",
        where=str(path),
        cure="export the model again",
    )
