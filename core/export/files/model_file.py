"""A fitted pipeline with its card as skops or joblib file, and the same read again."""

import zipfile
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from pandas.api.types import is_numeric_dtype

from core.datasets.raw_table import formats_of
from core.datasets.samples import SAMPLES
from core.errors import UnusableError
from core.estimators.model_settings import model_and_values
from core.estimators.registry import types_of_extensions
from core.estimators.stored import archive
from core.estimators.stored.allowed_types import EXPORTED
from core.estimators.stored.plain_model import plain_pipeline
from core.evaluation.conformal import PredictionInterval, interval_of
from core.export.exportable_models import BASELINE, TUNED
from core.export.finished_run import FinishedRun, members_of
from core.export.raw_rows import ATTRIBUTE, ModelCard
from core.ordinary_files import open_ordinary
from core.records import to_plain


def with_card(run: FinishedRun) -> Any:
    """The fitted pipeline in plain classes with its card; the run's own is unchanged."""
    pipeline = plain_pipeline(run.pipeline)
    setattr(pipeline, ATTRIBUTE, to_plain(_make_card(run)))
    return pipeline


def _make_card(run: FinishedRun) -> ModelCard:
    takeaway = run.takeaway
    # A baseline is none of the models.
    has_names = run.tunes_several_models and run.selected_name != BASELINE
    return ModelCard(
        run=run.name,
        model=run.plan.model,
        exported=run.selected_name,
        models=_model_names(run) if has_names else None,
        strategy=run.plan.strategy,
        task=str(takeaway.task),
        target=takeaway.target,
        features=takeaway.feature_names,
        text=_text_features(run),
        columns=[column.name for column in takeaway.columns],
        format=str(takeaway.source.format),
        read_csv=dict(takeaway.source.read_csv),
        libsvm=dict(takeaway.source.libsvm),
        formats=takeaway.source.formats or {},
        fingerprint=takeaway.source.fingerprint,
        validation=run.results.validation,
        test=run.results.test,
        fitted_rows=takeaway.kept_rows,
        sampled=takeaway.sampled,
        training=takeaway.training.as_json() if takeaway.training else None,
        interval=interval_of_run(run),
        evaluation=run.results.evaluation,
        versions=takeaway.versions,
    )


def interval_of_run(run: FinishedRun) -> PredictionInterval | None:
    """The interval around a run's predicted numbers; None for classes, or of few rows."""
    predictions = run.results.predictions
    if not run.takeaway.task.has_numbers or run.selected_name != TUNED or predictions is None:
        return None
    # The errors are those of the tested model on test rows.
    return interval_of(np.array(predictions.actual, float), np.array(predictions.tuned, float))


def _model_names(run: FinishedRun) -> list[str]:
    settings = [member.setting for member in members_of(run)] if run.selected_name == TUNED else []
    names = (model_and_values(run.plan.model, s)[0] for s in settings or [run.results.setting])
    return list(dict.fromkeys(names))


def _text_features(run: FinishedRun) -> list[str]:
    names, source = run.takeaway.feature_names, run.takeaway.source
    if source.format != "sample":
        formats = formats_of(run.takeaway.columns, source)
        return [name for name in names if formats[name].kind != "number"]
    # A sample is made, not read, so that nothing says how its cells are written.
    table = SAMPLES[run.plan.data.file.removeprefix("sample:")].table()
    return [name for name in names if not is_numeric_dtype(table[name].dtype)]


def write_skops(run: FinishedRun, path: Path) -> None:
    """Write the fitted pipeline, for ``skops.io.load(path, trusted=…)``."""
    pipeline = with_card(run)
    try:
        with path.open("wb") as file:
            archive.dump_model(pipeline, file, zipfile.ZIP_DEFLATED)
    except TypeError as error:
        fault = f"skops cannot write this kind of model ({error})"
        raise UnusableError(fault, cure="export it as joblib instead") from error


def load_skops(path: Path) -> Any:
    """The pipeline in a skops file, of our types and of extensions' alone, or UnusableError."""
    return archive.load_model(path, EXPORTED | types_of_extensions())


def write_joblib(run: FinishedRun, path: Path) -> None:
    """Write the fitted pipeline, for ``joblib.load``."""
    joblib.dump(with_card(run), path, compress=("zlib", 3))


def load_joblib(path: Path) -> Any:
    """The pipeline in a joblib file, whose opening can run code in it, or UnusableError."""
    try:
        with open_ordinary(path) as file:
            return joblib.load(file)
    except ImportError as error:
        fault = f"this model needs “{error.name}”, which is not installed here"
        cure = "install it, or export the model again from Tunescope"
        raise UnusableError(fault, where=str(path), cure=cure) from error
    except MemoryError:
        raise
    except Exception as error:
        # Unpickling damaged bytes may raise anything.
        fault = "this is no joblib model file, or it is damaged"
        raise UnusableError(fault, where=str(path), cure="export the model again") from error
