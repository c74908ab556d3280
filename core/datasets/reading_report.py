"""How a file was read: what every column was taken for, what else it could mean, the findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.datasets.dataset import Dataset
from core.datasets.distributions import shown_columns
from core.datasets.finding import Finding
from core.datasets.summary import all_findings
from core.records import Record


@dataclass(frozen=True)
class ReadColumn(Record):
    """A column as it was read."""

    name: str
    kind: str
    kind_text: str  # with the unit: "number, kg"
    role: str
    unit: str = ""  # of numbers
    missing: int = 0
    distinct: int = 0
    note: str = ""  # the reason of an unusual role
    reading: str = ""  # what it was taken for, where it could mean something else
    otherwise: str = ""  # the option of the command line that reads it otherwise
    encoding: str = ""  # what a model is given of it, where that is something else
    rewritten: bool = False  # whether some cells are written otherwise than they are read


@dataclass(frozen=True)
class ReadingReport(Record):
    """A file as it was read."""

    name: str
    described: str  # "semicolons between columns, decimal commas"
    rows: int  # with those without a target
    set_aside: int  # rows without a target
    file_rows: int  # rows of the file if some were drawn, else 0
    task: str
    target: str
    columns: list[ReadColumn]
    more_columns: int = 0  # not in columns
    findings: list[Finding] = field(default_factory=list)

    @property
    def rewritten(self) -> list[str]:
        """The columns whose texts do not come back from their values letter by letter."""
        return [column.name for column in self.columns if column.rewritten]


def reading_report(dataset: Dataset, encodings: Mapping[str, str] | None = None) -> ReadingReport:
    """The report on a dataset; `encodings` says what a model is given, {column: words}."""
    readings = {reading.column: reading for reading in dataset.readings}
    formats = dataset.source.formats or {}
    columns = []
    for column in shown_columns(dataset.columns):
        reading = readings.get(column.name)
        proposal = reading.proposal if reading else None
        columns.append(
            ReadColumn(
                name=column.name,
                kind=column.kind,
                kind_text=column.kind_text,
                role=column.role,
                unit=column.unit,
                missing=column.missing,
                distinct=column.distinct,
                note=column.note,
                reading=reading.sentence if reading else "",
                otherwise=proposal.option if proposal else "",
                encoding=(encodings or {}).get(column.name, ""),
                rewritten=column.name in formats and formats[column.name].rewrites,
            )
        )
    return ReadingReport(
        name=dataset.name,
        described=dataset.source.described,
        rows=dataset.rows + dataset.set_aside,
        set_aside=dataset.set_aside,
        file_rows=dataset.sampled.of if dataset.sampled else 0,
        task=str(dataset.task),
        target=dataset.target_name,
        columns=columns,
        more_columns=len(dataset.columns) - len(columns),
        findings=all_findings(dataset),
    )
