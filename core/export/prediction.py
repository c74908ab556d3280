"""Predictions of an exported model for a new file, without the training data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.files.opening import check_path
from core.datasets.files.table_file import open_table
from core.datasets.sampling.taking import parts_that_fit
from core.errors import UnusableError
from core.export.bundle import folder_file
from core.export.bundle.structured_prediction import predict_rows
from core.export.choices import runs_code
from core.export.destination import check_destination, write_whole_file
from core.export.files import joblib_file, json_model, npz_file, skops_file
from core.export.files.model_card import card_of
from core.export.onnx.file import OnnxModel
from core.export.raw_rows import rows_of
from core.tuning.scores.scoring import in_a_sentence

_LOADERS = {".skops": skops_file.load, ".joblib": joblib_file.load}
_ARRAYS = {".npz": npz_file.load, ".json": json_model.load}


def _nothing(done: int, every: int) -> None:
    """Say nothing."""


def predict_file(
    model_path: Path | str,
    file: Path | str,
    out: Path | str | None = None,
    tell: Callable[[int, int], None] = _nothing,
    *,
    trust: bool = False,
) -> pd.DataFrame:
    """One line a row of the file: the prediction, and for classes the probability of each.

    Args:
        model_path: a model that Tunescope exported (.skops, .joblib or .onnx; .npz or .json for
            sequences and molecules; .zip for topics and deep latent Gaussian models).
        file: CSV or LIBSVM rows like those the model was trained on; the target may be absent.
        out: where to write the table as CSV; None to write nothing.
        tell: (tokens, molecules or rows done, how many) from time to time.
        trust: whether a file that can run code when it is opened (.joblib) may be opened.

    Returns:
        Columns "prediction" and, where the model gives them, "probability of CLASS"; before them
        the sequence of a token; for molecules what core.export.bundle.folds says.

    Raises:
        UnusableError: an unusable model or file, a missing column, or nowhere to write.
    """
    parts = list(predicted_parts(model_path, file, tell, trust=trust))
    table = parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)
    if out is not None:
        write_whole_file(Path(out).expanduser(), lambda path: table.to_csv(path, index=False))
    return table


def predict_into(
    model_path: Path | str,
    file: Path | str,
    out: Path | str,
    tell: Callable[[int, int], None] = _nothing,
    *,
    trust: bool = False,
) -> int:
    """Write the predictions of a file of any size as CSV; how many there are.

    Args:
        model_path, file, tell, trust: as for `predict_file`.
        out: where to write; the file appears whole or not at all.

    Raises:
        UnusableError: as `predict_file`.
    """
    path, count = Path(out).expanduser(), 0
    check_destination(path)
    parts = predicted_parts(model_path, file, tell, trust=trust)
    first = next(parts)  # what is unusable is said before anything is written

    def write(draft: Path) -> None:
        nonlocal count
        with draft.open("w", encoding="utf-8", newline="") as into:
            for at, table in enumerate(chain([first], parts)):
                table.to_csv(into, index=False, header=at == 0)
                count += len(table)

    write_whole_file(path, write)
    return count


def predicted_parts(
    model_path: Path | str,
    file: Path | str,
    tell: Callable[[int, int], None] = _nothing,
    *,
    trust: bool = False,
) -> Iterator[pd.DataFrame]:
    """Tables of predictions as `predict_file` has them: one, or of a file past memory several.

    Args:
        model_path, file, tell, trust: as there.

    Raises:
        UnusableError: as there.
    """
    path = check_path(str(model_path))
    ending = path.suffix.lower()
    if ending == ".zip" or (ending == ".npz" and folder_file.holds_model(path)):
        yield folder_file.predict_rows(path, str(file), tell)
    elif ending in _ARRAYS:
        yield predict_rows(_ARRAYS[ending](path), str(file), tell)
    elif ending == ".onnx":
        model = OnnxModel(path)
        for rows in _rows_in_parts(str(file), model.card):
            said = model.outputs(rows)
            yield outputs_table(said["prediction"], said.get("probabilities"), model.classes_)
    else:
        pipeline, card = load_model(path, trust=trust)
        for rows in _rows_in_parts(str(file), card):
            yield predicted(pipeline, rows, str(path))


def predicted(pipeline: Any, rows: Any, where: str) -> pd.DataFrame:
    """What a pipeline says of raw rows.

    Raises:
        UnusableError: it cannot predict them; `where` says whose they are.
    """
    try:
        return predictions(pipeline, rows)
    except (ValueError, TypeError, AttributeError, LookupError) as error:
        raise UnusableError(
            f"the model cannot predict these rows ({in_a_sentence(error)})",
            where=where,
            cure="export the model again, or give rows like those it was trained on",
        ) from error


def _rows_in_parts(file: str, card: dict[str, Any]) -> Iterator[Any]:
    """The raw rows of a file, all at once where they fit into memory."""
    for part in parts_that_fit(open_table(file)):
        with part.lines.named():
            rows = rows_of(part, card)
        yield rows


def load_model(model_path: Path | str, *, trust: bool = False) -> tuple[Any, dict[str, Any]]:
    """An exported pipeline and what it says about itself.

    Args:
        model_path: a .skops or .joblib file.
        trust: whether a file that can run code when it is opened may be opened.

    Raises:
        UnusableError: no such file, another ending, damaged, untrusted, or not from Tunescope.
    """
    path = check_path(str(model_path))
    if path.suffix.lower() not in _LOADERS:
        raise UnusableError(
            "this is no exported model",
            where=str(path),
            cure="give a .skops, .joblib, .onnx, .npz, .json or .zip file",
        )
    if runs_code(path) and not trust:
        raise UnusableError(
            "opening a joblib file can run any code that is in it, with all your rights",
            where=str(path),
            cure="if you know who made it, give --trust; otherwise ask for a .skops file",
        )
    pipeline = _LOADERS[path.suffix.lower()](path)
    card = card_of(pipeline)
    if not _says_columns(card) or not hasattr(pipeline, "predict"):
        raise UnusableError(
            "this model does not say which columns it takes",
            where=str(path),
            cure="export the model from Tunescope again",
        )
    return pipeline, card


def _says_columns(card: dict[str, Any]) -> bool:
    """Whether a card says how rows are read; a stranger may have written anything into it."""
    lists = [card.get(name) for name in ("features", "text", "columns")]
    words = all(isinstance(one, list) and all(isinstance(w, str) for w in one) for one in lists)
    texts = all(isinstance(card.get(name), str) for name in ("target", "format"))
    return words and texts and all(isinstance(card.get(n), dict) for n in ("read_csv", "libsvm"))


def predictions(pipeline: Any, rows: Any) -> pd.DataFrame:
    """Predictions, and probabilities of every class where the model gives them."""
    shares = pipeline.predict_proba(rows) if hasattr(pipeline, "predict_proba") else None
    return outputs_table(pipeline.predict(rows), shares, getattr(pipeline, "classes_", ()))


def outputs_table(
    predicted: np.ndarray, shares: np.ndarray | None, classes: Sequence[Any]
) -> pd.DataFrame:
    """A line a row: the prediction, and the probability of every class where there are some."""
    table = pd.DataFrame({"prediction": predicted})
    if shares is not None:
        for place, label in enumerate(classes):
            table[f"probability of {label}"] = shares[:, place]
    return table
