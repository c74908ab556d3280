"""The rows of a file of any size predicted in parts, each with its marks and intervals."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from core.datasets.files.columnar_table import ColumnarFile
from core.datasets.files.table_file import TableFile, TextFile, open_table
from core.datasets.sampling import drawing, taking
from core.datasets.sampling.taking import Part, form_of, in_parts, parts_that_fit
from core.errors import UnusableError
from core.evaluation.conformal import Interval
from core.export.choices import STRUCTURED, forms_of
from core.export.exporters import export_run
from core.export.finished_run import FinishedRun
from core.export.prediction import predict_file
from core.export.raw_rows import Noted, rows_of
from core.export.using.checks import Looked
from core.export.using.model import NOT_KNOWN, UsedModel, looked_at
from core.export.using.unlike import unlike

UNLIKE = "unlike the training rows"
LARGE = 4_000_000  # bytes of a file that is read in parts
PART = 20_000  # rows of a part


@dataclass(frozen=True)
class Predicted:
    """Some rows with what a model says of them.

    Attributes:
        table: the predictions, intervals, what is unlike the training rows where that is known, and
            the rows themselves.
        marked: how many rows are unlike the training rows.
        own: how many of the columns are the model's; the others are the rows'.
    """

    table: pd.DataFrame
    marked: int
    own: int


@dataclass
class Rows:
    """The rows of a file as a model predicts them, part after part.

    Attributes:
        model: that predicts.
        file: of the rows.
        total: how many there are; 0 while it is not known.
        done: how many were predicted.
        marked: how many of them are unlike the training rows.
    """

    model: UsedModel
    file: str
    total: int = 0
    done: int = 0
    marked: int = 0
    _looked: Looked = field(init=False)

    def __post_init__(self) -> None:
        """Nothing was looked at yet."""
        self._looked = Looked(self.model)

    def __iter__(self) -> Iterator[Predicted]:
        """Predict the next part.

        Raises:
            UnusableError: unreadable rows, a column is missing, or there are no rows.
        """
        for part in self._parts():
            noted = Noted()
            with part.lines.named():
                rows = rows_of(part, self.model.card, noted)
            self._looked.noted.add(noted)
            made = self._predicted(rows)
            self.done += len(made.table)
            self.marked += made.marked
            self.total = max(self.total, self.done)
            yield made
        if not self.done:
            raise UnusableError(
                "there is no row under the names of the columns",
                where=Path(self.file).name,
                cure="give one row at least",
            )

    def _parts(self) -> Iterator[Part]:
        file = open_table(self.file)
        if not is_large(file):
            yield from parts_that_fit(file)
            return
        self.total = _count(file)
        yield from in_parts(file, PART)

    def _predicted(self, rows: object) -> Predicted:
        said = self.model.say(rows)
        if self.model.interval is not None:
            _add_interval(said, self.model.interval)
        compared, marked = looked_at(rows, self.model), 0
        if compared is not None and self.model.seen is not None:
            words = unlike(compared, self.model.seen)
            said[UNLIKE] = words
            marked = sum(map(bool, words))
        if (looked := rows if isinstance(rows, pd.DataFrame) else compared) is not None:
            self._looked.look(looked)
        own = said.shape[1]
        if isinstance(rows, pd.DataFrame):
            given = rows.reset_index(drop=True)
            taken = {name: f"{name} (given)" for name in given.columns if name in said.columns}
            said = pd.concat([said, given.rename(columns=taken)], axis=1)
        return Predicted(said, marked, own)

    def sentences(self) -> list[str]:
        """What a person should know of the rows that were predicted."""
        known = self.model.seen is not None
        return [*self._looked.sentences(), *([] if known else [NOT_KNOWN])]


def _add_interval(said: pd.DataFrame, interval: Interval) -> None:
    percent = f"{100 * interval.coverage:g} %"
    said[f"low ({percent})"] = said["prediction"] - interval.half
    said[f"high ({percent})"] = said["prediction"] + interval.half


def is_large(file: TableFile) -> bool:
    """Whether a file is read in parts."""
    return taking.can_be_drawn(file) and file.path.stat().st_size > LARGE


def _count(file: TableFile) -> int:
    if isinstance(file, ColumnarFile):
        return file.counted()[0]
    assert isinstance(file, TextFile)
    with taking.opened(file) as whole:
        return sum(1 for _ in drawing.rows_of(whole, form_of(file)))


def of_no_table(run: FinishedRun, file: str) -> pd.DataFrame:
    """What a run's model of sequences, molecules or texts says: as its exported file predicts."""
    (form,) = forms_of(run.takeaway.task, run.plan.model)
    ending = ".npz" if form in STRUCTURED else ".zip"
    with tempfile.TemporaryDirectory() as place:
        return predict_file(export_run(run, Path(place) / f"model{ending}"), file)
