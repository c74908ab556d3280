"""The use of a model in the worker: files of rows, single rows, rows of the test set."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pandas as pd

from app.worker import messages as m
from core.datasets.dataset import Dataset
from core.errors import UnusableError, write_error
from core.export.destination import write_whole_file
from core.export.finished_run import FinishedRun, finished_run
from core.export.prediction import predict_file
from core.export.using.loaded_model import NOT_KNOWN, LoadedModel, model_of_file, model_of_run
from core.export.using.prediction_stream import PredictedRows, PredictionStream, predict_as_exported
from core.export.using.row_prediction import form_of_model, predict_row
from core.export.using.test_rows import TestRows, test_rows_of
from core.tuning.plan import Plan
from core.tuning.runs.run_folder import RunFolder

MAX_SHOWN_ROWS = 1000  # of predictions
NO_FORM = "This model takes no rows of a table, so there is no form for one. Give it a file."
NO_TEST_ROWS = (
    "The rows of the test set are not at hand: the file of the run is gone, or has changed."
)


class PredictionService:
    """Keeps the model that was used last, opened once, and the last predictions."""

    def __init__(self, dataset_of: Callable[[Plan], Dataset]) -> None:
        self._dataset_of = dataset_of
        self._key: tuple[str, str, bool, int] | None = None
        self._run: FinishedRun | None = None
        self._model: LoadedModel | None = None
        self._tests: TestRows | None = None
        self._predictions_path: Path | None = None  # the predictions, as CSV
        self._count = 0

    # Files of rows ----------------------------------------------------------------------------

    def use(
        self, request: m.PredictRows, stopped: Callable[[], bool] = lambda: False
    ) -> Generator[m.UseProgress | m.RowsPredicted]:
        """Predict the rows of a file in chunks until `stopped`; they are kept for saving.

        Raises:
            UnusableError: the model or the rows cannot be used.
        """
        model = self._open_model(request.folder, request.model, request.trust)
        folder = Path(tempfile.mkdtemp(prefix="predictions-"))
        draft = folder / "predictions.csv"
        rows = PredictionStream(model, request.file) if model is not None else None
        first_rows, marked, n_model_columns, is_stopped = pd.DataFrame(), 0, 0, False
        count = 0
        try:
            with draft.open("w", encoding="utf-8", newline="") as target:
                for chunk in rows if rows is not None else self._predict_without_table(request):
                    chunk.table.to_csv(target, index=False, header=count == 0)
                    if not count:
                        first_rows = chunk.table.head(MAX_SHOWN_ROWS)
                        n_model_columns = chunk.model_column_count
                    count += len(chunk.table)
                    marked += chunk.marked_count
                    yield m.UseProgress(count, rows.total if rows is not None else count)
                    if stopped() and rows is not None and count < rows.total:
                        is_stopped = True
                        break
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise write_error("the predictions", folder, error) from error
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        if self._predictions_path is not None:
            shutil.rmtree(self._predictions_path.parent, ignore_errors=True)
        self._predictions_path, self._count = draft, count
        sentences = rows.sentences() if rows is not None else [NOT_KNOWN]
        if is_stopped and rows is not None:
            sentences = [f"Stopped: {count:,} of {rows.total:,} rows are predicted.", *sentences]
        headers = list(map(str, first_rows.columns))
        yield m.RowsPredicted(
            headers, _cell_rows(first_rows), count, marked, "", tuple(sentences), n_model_columns
        )

    def _predict_without_table(self, request: m.PredictRows) -> Iterator[PredictedRows]:
        if self._run is not None:
            table = predict_as_exported(self._run, request.file)
        else:
            table = predict_file(request.model, request.file, trust=request.trust)
        yield PredictedRows(table, 0, table.shape[1])

    def save_predictions(self, path: str) -> m.PredictionsSaved:
        """Write all of the last predictions."""
        predictions_path = self._predictions_path
        if predictions_path is None or not predictions_path.is_file():
            cure = "open the file of rows again"
            raise UnusableError("the predictions are not there any more", cure=cure)

        def copy_predictions(draft: Path) -> None:
            shutil.copyfile(predictions_path, draft)

        write_whole_file(Path(path).expanduser(), copy_predictions)
        return m.PredictionsSaved(path, self._count)

    # Single rows ------------------------------------------------------------------------------

    def describe(self, request: m.DescribeModel) -> m.ModelDescribed:
        """The form of the model."""
        try:
            model = self._open_model(request.folder, request.model, request.trust)
        except UnusableError as error:
            return m.ModelDescribed(request, problem=error.sentence)
        if model is None:
            return m.ModelDescribed(request, problem=NO_FORM)
        return m.ModelDescribed(request, form_of_model(model))

    def try_row(self, request: m.PredictRow) -> m.RowPredicted:
        """The prediction for one row."""
        try:
            model = self._open_model(request.folder, request.model, request.trust)
            if model is None:
                return m.RowPredicted(request, problem=NO_FORM)
            return m.RowPredicted(request, predict_row(model, request.values))
        except UnusableError as error:
            return m.RowPredicted(request, problem=error.sentence)

    def find_row(self, request: m.FindTestRow) -> m.TestRowFound:
        """A row of the test set."""
        try:
            self._open_model(request.folder, "", False)
            if self._tests is None and self._run is not None:
                self._tests = test_rows_of(self._run, self._run_data(self._run))
            if self._tests is None:
                return m.TestRowFound(request, problem=NO_TEST_ROWS)
            if request.line:
                return m.TestRowFound(request, self._tests.row_at_line(request.line))
            return m.TestRowFound(request, self._tests.row_by_number(request.number))
        except UnusableError as error:
            return m.TestRowFound(request, problem=error.sentence)

    # The model --------------------------------------------------------------------------------

    def _open_model(self, folder: str, model: str, trust: bool) -> LoadedModel | None:
        """The model, opened once; None where its rows are not of a table."""
        run = RunFolder.open(folder) if folder else None
        model_path = run.takeaway_path if run is not None else Path(model)
        key = (folder, model, trust, model_path.stat().st_mtime_ns if model_path.is_file() else 0)
        if key != self._key:
            self._key = self._tests = None
            self._run = finished_run(run) if run is not None else None
            if self._run is not None:
                self._model = model_of_run(self._run, self._run_data(self._run))
            else:
                self._model = model_of_file(model, trust=trust)
            self._key = key
        return self._model

    def _run_data(self, run: FinishedRun) -> Dataset | None:
        try:
            return self._dataset_of(run.plan)
        except UnusableError:  # the file is gone: the model predicts without it
            return None


def _cell_rows(table: pd.DataFrame) -> list[list[object]]:
    rows = table.astype(object)
    return list(rows.where(rows.notna(), None).to_numpy().tolist())
