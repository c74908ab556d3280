"""A Parquet or Feather file as it was given: schema and values, with columns of answers behind."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np
import pandas as pd

from core.datasets.files.columnar_table import ColumnarFile, check_pyarrow
from core.datasets.files.plain_columns import cell_objects
from core.export.destination import OutputForm
from core.export.own_table.answer_rows import Answers, Cell, OwnTable, answer_text, check_row_count

_BATCH = 20_000  # rows in memory at a time
_TAKEN = 200_000  # rows of another order in memory at a time
_STREAM = "stream"


@dataclass(frozen=True)
class ColumnarTable(OwnTable):
    """The table of a Parquet or Feather file."""

    file: ColumnarFile

    @property
    def names(self) -> list[str]:
        return list(self._dataset.schema.names)

    def rows(self) -> Iterator[list[Cell]]:
        """The values of every row; dates and the like as texts."""
        for batch in self._dataset.to_batches(batch_size=_BATCH):
            columns = [_column_cells(column) for column in batch.columns]
            for row in zip(*columns, strict=True):
                yield [_plain_cell(value) for value in row]

    @property
    def _dataset(self) -> Any:
        from pyarrow.dataset import dataset

        return dataset(self.file.path, format=self.file.kind)

    def can_stay(self, form: OutputForm, answers: Answers) -> bool:
        """Whether the form has columns with types; the two that have are one another's."""
        return form.kind in ("parquet", "feather")

    def write_file(self, path: Path, form: OutputForm, answers: Answers) -> list[str]:
        with closing(ColumnarWriter(path, form.kind, _compression(self.file))) as writer:
            if not answers.is_sorted:
                self._write_rows(writer, answers)
                return []
            with TemporaryDirectory() as folder:
                draft = Path(folder) / "rows"
                with closing(ColumnarWriter(draft, _STREAM)) as draft_writer:
                    self._write_rows(draft_writer, answers)
                writer.write_draft(draft, answers.order())
        return []

    def _write_rows(self, writer: "ColumnarWriter", answers: Answers) -> None:
        source, names, row_count = self._dataset, answers.names_beside(self.names), 0
        for batch in source.to_batches(batch_size=_BATCH):
            batch.validate(full=True)  # offsets of damaged files may point anywhere in memory
            table = answers.take_rows(batch.num_rows)
            row_count += batch.num_rows if answers.is_whole else len(table)
            if not answers.is_whole:
                batch = batch.slice(0, len(table))
            if len(table) == batch.num_rows:
                columns = list(batch.columns)
                writer.write_columns(source.schema, columns, table.set_axis(names, axis=1))
        check_row_count(answers, row_count, self.file.path.name)


class ColumnarWriter:
    """Writes a Parquet or Feather file or a stream; the first rows fix the types."""

    def __init__(self, path: Path, kind: str, compression: str = "") -> None:
        check_pyarrow(path.name)
        self._path, self._kind = path, kind
        self._compression = compression
        self._schema: Any = None
        self._file: Any = None

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def write_columns(self, schema: Any, columns: list[Any], table: pd.DataFrame) -> None:
        """Write some rows: the `columns` of a `schema`, and those of a table behind them."""
        import pyarrow as pa

        if self._file is None:
            fields = [pa.field(str(name), _type_of(table[name])) for name in table]
            self._schema = pa.schema([*schema, *fields], metadata=schema.metadata)
            self._open_file()
        types = self._schema.types[len(columns) :]
        behind = [
            pa.array(table[name].astype(object), kind, from_pandas=True, safe=False)
            for name, kind in zip(table, types, strict=True)
        ]
        self._file.write_batch(pa.RecordBatch.from_arrays([*columns, *behind], schema=self._schema))

    def write_draft(self, draft: Path, order: np.ndarray) -> None:
        import pyarrow as pa

        with pa.memory_map(str(draft)) as source, pa.ipc.open_stream(source) as stream:
            table = stream.read_all().unify_dictionaries()
            self._schema = table.schema
            self._open_file()
            for start in range(0, len(order), _TAKEN):
                self._file.write_table(table.take(order[start : start + _TAKEN]))

    def _open_file(self) -> None:
        import pyarrow as pa

        if self._kind == _STREAM:
            self._file = pa.ipc.new_stream(str(self._path), self._schema)
            return
        if self._kind == "parquet":
            from pyarrow.parquet import ParquetWriter

            codec = self._compression or "snappy"
            self._file = ParquetWriter(self._path, self._schema, compression=codec)
            return
        # As pyarrow itself packs Feather files.
        is_packed = pa.Codec.is_available("lz4_frame")
        options = pa.ipc.IpcWriteOptions(compression="lz4" if is_packed else None)
        self._file = pa.ipc.new_file(str(self._path), self._schema, options=options)


def _type_of(column: pd.Series) -> Any:
    import pyarrow as pa

    if pd.api.types.is_bool_dtype(column.dtype):
        return pa.bool_()
    if pd.api.types.is_integer_dtype(column.dtype):
        return pa.int64()
    return pa.float64() if pd.api.types.is_float_dtype(column.dtype) else pa.string()


def _compression(file: ColumnarFile) -> str:
    if file.kind != "parquet":
        return ""
    from pyarrow.parquet import ParquetFile

    with ParquetFile(file.path) as parquet:
        # A file without rows or columns has no codec to ask for.
        if not parquet.metadata.num_row_groups or not parquet.metadata.num_columns:
            return ""
        codec = str(parquet.metadata.row_group(0).column(0).compression).lower()
    return {"uncompressed": "none"}.get(codec, codec)


def _column_cells(column: Any) -> list[Any]:
    try:
        return cast(list[Any], column.to_pylist())
    except OverflowError:  # times beyond the years of ``datetime``
        cells = cell_objects(column.to_pandas())
        return cells.where(cells.notna(), None).tolist()


def _plain_cell(value: Any) -> Cell:
    if value is None or isinstance(value, (str, int, float)):
        return None if value != value else value
    if hasattr(value, "isoformat"):
        return str(value.isoformat()).replace("T", " ")
    return str(value)


def write_columnar(
    path: Path, kind: str, names: Sequence[str], rows: Iterable[Sequence[Cell]], text_count: int
) -> list[str]:
    """Write a Parquet or Feather file, whose first `text_count` columns are texts."""
    import pyarrow as pa

    remaining_rows = iter(rows)
    with closing(ColumnarWriter(path, kind)) as writer:
        while block := list(islice(remaining_rows, _BATCH)):
            table = pd.DataFrame(block, columns=list(names))
            for name in names[:text_count]:
                table[name] = table[name].map(answer_text, na_action="ignore").astype(object)
            writer.write_columns(pa.schema([]), [], table)
    return []
