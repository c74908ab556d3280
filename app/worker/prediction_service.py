"""The use of a model in the worker: files of rows, single rows, rows of the test set."""

from collections.abc import Callable, Generator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd

from app.worker import messages as m
from core.datasets.dataset import Dataset
from core.errors import UnusableError
from core.export.finished_run import FinishedRun, finished_run
from core.export.own_table.answer_rows import has_doubt
from core.export.prediction import NOT_KNOWN, LoadedModel, model_of_file, model_of_run, predict_file
from core.export.using.file_prediction import (
    KeptAnswers,
    answered_file,
    predict_as_exported,
    returned_table,
)
from core.export.using.row_prediction import TestRows, form_of_model, predict_row, test_rows_of
from core.tuning.plan import Plan
from core.tuning.runs.run_folder import RunFolder

MAX_SHOWN_ROWS = 1000  # of predictions
NO_FORM = "This model takes no rows of a table, so there is no form for one. Give it a file."
NO_TEST_ROWS = (
    "The rows of the test set are not at hand: the file of the run is gone, or has changed."
)


class PredictionService:
    """Keeps the last model, opened once, and the last predictions."""

    def __init__(self, dataset_of: Callable[[Plan], Dataset]) -> None:
        self._dataset_of = dataset_of
        self._key: tuple[str, str, bool, int] | None = None
        self._run: FinishedRun | None = None
        self._model: LoadedModel | None = None
        self._tests: TestRows | None = None
        # The last predictions of a file, and what was told of them.
        self._answers: KeptAnswers | None = None
        self._shown_rows = m.RowsPredicted([], [], 0, 0)

    # Files of rows ----------------------------------------------------------------------------

    def use(
        self, request: m.PredictRows, stop_reason: Callable[[], str] = str
    ) -> Generator[m.UseProgress | m.RowsPredicted]:
        """In chunks until `stop_reason`; the rows are kept for saving."""
        model = self._open_model(request.folder, request.model, request.trust)
        predict_alone = partial(self._predict_as_exported, request)
        table_file = returned_table(request.file)
        answered = answered_file(model, request.file, table_file, predict_alone)
        stream, sentences = answered.stream, answered.remarks
        answers = KeptAnswers(request.file, answered.table)
        is_sortable = is_stopped = False
        try:
            for table in answered.tables:
                is_sortable = answered.table is not None and has_doubt(table)
                answers.add_rows(table)
                count = answers.count
                yield m.UseProgress(count, stream.total if stream is not None else count)
                if stream is not None and count < stream.total and stop_reason():
                    is_stopped = True
                    break
            answers.is_whole = not is_stopped
            headers, rows = answers.first_rows(MAX_SHOWN_ROWS)
        except BaseException:
            # Its predictions lie in a file of their own; those before stay what can be saved.
            answers.forget()
            raise
        if self._answers is not None:
            self._answers.forget()
        self._answers = answers
        sentences += tuple(stream.sentences() if stream is not None else [NOT_KNOWN])
        if is_stopped and stream is not None:
            stopped_text = f"Stopped: {answers.count:,} of {stream.total:,} rows are predicted."
            sentences = (stopped_text, *sentences)
        self._shown_rows = m.RowsPredicted(
            headers,
            rows,
            answers.count,
            stream.marked_count if stream is not None else 0,
            sentences=sentences,
            n_own_columns=answers.n_own_columns,
            has_doubt=is_sortable,
        )
        yield self._shown_rows

    def _predict_as_exported(self, request: m.PredictRows) -> pd.DataFrame:
        if self._run is not None:
            return predict_as_exported(self._run, request.file)
        return predict_file(request.model, request.file, trust=request.trust)

    def sort_predictions(self, request: m.SortPredictions) -> m.RowsPredicted:
        least_sure_first = request.least_sure_first
        answers = self._kept_answers()
        _, rows = answers.first_rows(MAX_SHOWN_ROWS, least_sure_first=least_sure_first)
        self._shown_rows = replace(self._shown_rows, rows=rows, least_sure_first=least_sure_first)
        return self._shown_rows

    def save_predictions(self, request: m.SavePredictions) -> m.PredictionsSaved:
        answers, path = self._kept_answers(), Path(request.path).expanduser()
        sentences = answers.write_table(path, least_sure_first=request.least_sure_first)
        return m.PredictionsSaved(request.path, answers.count, tuple(sentences))

    def _kept_answers(self) -> KeptAnswers:
        if self._answers is None:
            cure = "open the file of rows again"
            raise UnusableError("the predictions are not there any more", cure=cure)
        return self._answers

    # Single rows ------------------------------------------------------------------------------

    def describe(self, request: m.DescribeModel) -> m.ModelDescribed:
        model = self._open_model(request.folder, request.model, request.trust)
        if model is None:
            return m.ModelDescribed(request, problem=NO_FORM)
        return m.ModelDescribed(request, form_of_model(model))

    def try_row(self, request: m.PredictRow) -> m.RowPredicted:
        model = self._open_model(request.folder, request.model, request.trust)
        if model is None:
            return m.RowPredicted(request, problem=NO_FORM)
        return m.RowPredicted(request, predict_row(model, request.values))

    def find_row(self, request: m.FindTestRow) -> m.TestRowFound:
        self._open_model(request.folder, "", False)
        if self._tests is None and self._run is not None:
            self._tests = test_rows_of(self._run, self._run_data(self._run))
        if self._tests is None:
            return m.TestRowFound(request, problem=NO_TEST_ROWS)
        if request.line:
            return m.TestRowFound(request, self._tests.row_at_line(request.line))
        return m.TestRowFound(request, self._tests.row_by_number(request.number))

    # The model --------------------------------------------------------------------------------

    def _open_model(self, folder: str, model: str, trust: bool) -> LoadedModel | None:
        """The model, opened once; None where its rows are not of a table."""
        run = RunFolder.open(folder) if folder else None
        model_path = run.takeaway_path if run is not None else Path(model)
        key = (folder, model, trust, model_path.stat().st_mtime_ns if model_path.is_file() else 0)
        if key != self._key:
            # The key comes last: a model that cannot be opened must not pass for this one.
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
        # The file is gone: the model predicts without it.
        except UnusableError:
            return None
