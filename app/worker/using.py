"""What the worker does with a model that is used: files of rows, single rows, rows of the test set.

The model is opened once for all that is asked about it.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from app.worker import messages as m
from core.datasets.dataset import Dataset
from core.errors import UnusableError, cannot_write
from core.export.destination import write_whole_file
from core.export.finished_run import FinishedRun, finished_run
from core.export.prediction import predict_file
from core.export.using.model import NOT_KNOWN, UsedModel, model_of_file, model_of_run
from core.export.using.parts import Predicted, Rows, of_no_table
from core.export.using.question import answer, form_of_model
from core.export.using.test_rows import TestRows, test_rows_of
from core.tuning.plan import Plan
from core.tuning.runs.run_folder import RunFolder

SHOWN_ROWS = 1000  # of predictions, at most
NO_FORM = "This model takes no rows of a table, so there is no form for one. Give it a file."
NO_TEST_ROWS = (
    "The rows of the test set are not at hand: the file of the run is gone, or has changed."
)


class Using:
    """Keeps the model that was used last, and the predictions that were made last.

    Args:
        dataset_of: gives the data of a plan.
    """

    def __init__(self, dataset_of: Callable[[Plan], Dataset]) -> None:
        self._dataset_of = dataset_of
        self._key: tuple[Any, ...] = ()
        self._run: FinishedRun | None = None
        self._model: UsedModel | None = None
        self._tests: TestRows | None = None
        self._said: Path | None = None  # the predictions, as CSV
        self._count = 0

    # Files of rows ----------------------------------------------------------------------------

    def use(
        self, asked: m.Use, stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[m.UseProgress | m.Used]:
        """Predict the rows of a file, part after part; all of it is kept for `save`.

        Args:
            asked: which model and which rows.
            stopped: whether a person does not want the rest.

        Raises:
            UnusableError: the model or the rows cannot be used.
        """
        model = self._opened(asked.folder, asked.model, asked.trust)
        place = Path(tempfile.mkdtemp(prefix="predictions-"))
        draft = place / "predictions.csv"
        rows = Rows(model, asked.file) if model is not None else None
        shown, marked, own, left = pd.DataFrame(), 0, 0, False
        count = 0
        try:
            with draft.open("w", encoding="utf-8", newline="") as into:
                for part in rows if rows is not None else self._of_no_table(asked):
                    part.table.to_csv(into, index=False, header=count == 0)
                    if not count:
                        shown, own = part.table.head(SHOWN_ROWS), part.own
                    count += len(part.table)
                    marked += part.marked
                    yield m.UseProgress(count, rows.total if rows is not None else count)
                    if stopped() and rows is not None and count < rows.total:
                        left = True
                        break
        except OSError as error:
            shutil.rmtree(place, ignore_errors=True)
            raise cannot_write("the predictions", place, error) from error
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise
        if self._said is not None:
            shutil.rmtree(self._said.parent, ignore_errors=True)
        self._said, self._count = draft, count
        sentences = rows.sentences() if rows is not None else [NOT_KNOWN]
        if left and rows is not None:
            sentences = [f"Stopped: {count:,} of {rows.total:,} rows are predicted.", *sentences]
        headers = list(map(str, shown.columns))
        yield m.Used(headers, _cells(shown), count, marked, "", tuple(sentences), own)

    def _of_no_table(self, asked: m.Use) -> Iterator[Predicted]:
        if self._run is not None:
            table = of_no_table(self._run, asked.file)
        else:
            table = predict_file(asked.model, asked.file, trust=asked.trust)
        yield Predicted(table, 0, table.shape[1])

    def save(self, path: str) -> m.Predicted:
        """Write what was predicted last, all of it."""
        said = self._said
        if said is None or not said.is_file():
            raise UnusableError(
                "the predictions are not there any more", cure="open the file of rows again"
            )
        write_whole_file(
            Path(path).expanduser(), lambda draft: _nothing(shutil.copyfile(said, draft))
        )
        return m.Predicted(path, self._count)

    # Single rows ------------------------------------------------------------------------------

    def describe(self, asked: m.DescribeModel) -> m.ModelDescribed:
        """The fields of a form for the model."""
        try:
            model = self._opened(asked.folder, asked.model, asked.trust)
            form = form_of_model(model) if model is not None else {"problem": NO_FORM}
        except UnusableError as error:
            form = {"problem": error.sentence}
        return m.ModelDescribed(asked, form)

    def try_row(self, asked: m.TryRow) -> m.RowTried:
        """What the model says of one row."""
        try:
            model = self._opened(asked.folder, asked.model, asked.trust)
            said = answer(model, asked.values) if model is not None else {"problem": NO_FORM}
        except UnusableError as error:
            said = {"problem": error.sentence}
        return m.RowTried(asked, said)

    def find_row(self, asked: m.FindRow) -> m.RowFound:
        """A row of the test set."""
        try:
            self._opened(asked.folder, "", False)
            if self._tests is None and self._run is not None:
                self._tests = test_rows_of(self._run, self._data(self._run))
            if self._tests is None:
                return m.RowFound(asked, {"problem": NO_TEST_ROWS})
            tests = self._tests
            found = tests.at_line(asked.line) if asked.line else tests.at(asked.number)
        except UnusableError as error:
            found = {"problem": error.sentence}
        return m.RowFound(asked, found)

    # The model --------------------------------------------------------------------------------

    def _opened(self, folder: str, model: str, trust: bool) -> UsedModel | None:
        """The model, opened once; None where its rows are no table's."""
        run = RunFolder.open(folder) if folder else None
        kept = run.takeaway_path if run is not None else Path(model)
        key = (folder, model, trust, kept.stat().st_mtime_ns if kept.is_file() else 0)
        if key != self._key:
            self._key, self._tests = (), None
            self._run = finished_run(run) if run is not None else None
            if self._run is not None:
                self._model = model_of_run(self._run, self._data(self._run))
            else:
                self._model = model_of_file(model, trust=trust)
            self._key = key
        return self._model

    def _data(self, run: FinishedRun) -> Dataset | None:
        try:
            return self._dataset_of(run.plan)
        except UnusableError:  # the file is gone: the model predicts without it
            return None


def _cells(table: pd.DataFrame) -> list[list[Any]]:
    rows = table.astype(object)
    return list(rows.where(rows.notna(), None).to_numpy().tolist())


def _nothing(_done: object) -> None:
    """Give back nothing."""
