"""Reads a Parquet or Feather file by one repeatable call of pandas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.column_format import MISSING, quoted_words
from core.datasets.dataset import DataSource, saved_csv
from core.datasets.files.file_bytes import max_unpacked_bytes, too_large_error
from core.datasets.files.plain_columns import exact_columns, plain_columns
from core.datasets.files.row_sampling import MAX_LABELS
from core.datasets.files.table_reader import (
    HEAD_ROWS,
    CountedRows,
    FileStart,
    TableReader,
    unique_names,
)
from core.datasets.finding import Finding
from core.datasets.raw_table import NO_CHOICES, DataOptions, RawTable
from core.datasets.understanding.target import target_column
from core.errors import UnusableError
from core.extras import install_command

_MIN_BYTE_LIMIT = 2**28  # bytes that any file may unpack to, as equal values take no space
_BATCH = 2**16  # rows unpacked at a time
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "feather"}
_TITLES = {"parquet": "Parquet", "feather": "Feather (Arrow)"}


def check_pyarrow(where: str) -> None:
    """Refuse what needs pyarrow where that is not installed, with the command that installs it."""
    if find_spec("pyarrow") is None:
        fault = "Parquet and Feather files need pyarrow, which is missing here"
        cure = f"install it with: {install_command('columnar')}"
        raise UnusableError(fault, where=where, cure=cure)


@dataclass(frozen=True)
class _Parsed:
    """The table as pandas has it, its columns of texts, and whether pandas alone reads it so."""

    table: pd.DataFrame
    texts: list[str]
    is_usual: bool


@dataclass(frozen=True)
class ColumnarFile(TableReader):
    """A Parquet or Feather file; `chosen` are row numbers to read, from 0, sorted, None for all."""

    kind: str
    chosen: np.ndarray | None = field(default=None, compare=False, repr=False)

    @classmethod
    def recognize(cls, start: FileStart) -> ColumnarFile | None:
        kinds = (kind for magic, kind in _MAGIC.items() if start.magic.startswith(magic))
        return next((cls(start.path, kind) for kind in kinds), None)

    @property
    def can_be_drawn(self) -> bool:
        # Of names that stand twice, pyarrow would choose both columns.
        return not self.is_renamed

    @property
    def max_bytes(self) -> float:
        return max(_MIN_BYTE_LIMIT, max_unpacked_bytes(self.path.stat().st_size))

    @property
    def is_renamed(self) -> bool:
        return self._names[0] != [name.strip() for name in self._file_schema.names]

    def count_rows(self, target: str = "", *, labels: bool = True) -> CountedRows:
        name = None
        with suppress(UnusableError):  # raised again by reading
            if labels:
                name = target_column(list(self._places), target, self.path.name)
        return CountedRows(*self._count_labels(name))

    def _count_labels(self, name: str | None = None) -> tuple[int, np.ndarray | None]:
        from pyarrow import types

        column = next(iter(self._places)) if name is None else name
        code_of_value, codes, total = dict[Any, int](), [np.empty(0, np.uint16)], 0
        # Labels are coded batch by batch, so that no column of texts is in memory as a whole.
        for batch in self._batches([column]):
            total += batch.num_rows
            if name is None or len(code_of_value) > MAX_LABELS:
                continue
            values = batch.column(0)
            if hasattr(values, "dictionary_decode"):
                values = values.dictionary_decode()
            if types.is_temporal(values.type):  # Python's own times end with the year 9999
                values = values.view(f"int{values.type.bit_width}")
            coded = values.dictionary_encode(null_encoding="encode")
            distinct = map(str, coded.dictionary.to_pylist())
            batch_codes = [code_of_value.setdefault(v, len(code_of_value)) for v in distinct]
            value_indices = coded.indices.to_numpy(zero_copy_only=False)
            codes.append(np.array([*batch_codes, 0], dtype=np.uint16)[value_indices])
        # A damaged count would draw rows that are not there.
        if self.kind == "parquet" and total != (stated := self._parquet_metadata.num_rows):
            fault = f"it says that it has {stated:,} rows, and has {total:,}"
            raise _damaged(self.path.name, fault)
        has_codes = name is not None and len(code_of_value) <= MAX_LABELS and total > 0
        return total, np.concatenate(codes) if has_codes else None

    def bytes_of_rows(self, choices: DataOptions = NO_CHOICES) -> float:
        first = next(self._batches(), None)
        if first is None or first.num_rows == 0:
            return 0.0
        with _library_faults(self.path.name):
            table = first.slice(0, HEAD_ROWS).to_pandas()
        # Codes of a few rows say nothing of the texts that all rows become.
        table = table.astype({n: "str" for n in table if table[n].dtype == "category"})
        deep_bytes = float(table.memory_usage(deep=True, index=False).sum())
        has_count = self.kind == "parquet"
        rows = self._parquet_metadata.num_rows if has_count else self._count_labels()[0]
        return max(deep_bytes, 8.0 * table.size) / len(table) * rows

    @cached_property
    def _parquet_metadata(self) -> Any:
        from pyarrow.parquet import read_metadata

        with _library_faults(self.path.name):
            return read_metadata(self.path)

    @cached_property
    def _file_schema(self) -> Any:
        check_pyarrow(self.path.name)
        with _library_faults(self.path.name):
            if self.kind == "parquet":
                return self._parquet_metadata.schema.to_arrow_schema()
            import pyarrow as pa

            with pa.OSFile(str(self.path)) as source, pa.ipc.open_file(source) as file:
                return file.schema

    @cached_property
    def _names(self) -> tuple[list[str], list[Finding]]:
        with _library_faults(self.path.name):  # of names that are no UTF-8
            names = self._file_schema.names
        return unique_names(names, self.path.name)

    @cached_property
    def _places(self) -> dict[str, int]:
        names = self._names[0]
        kinds = enumerate(zip(names, self._file_schema, strict=True))
        places = {name: i for i, (name, column) in kinds if not _is_nested(column.type)}
        if not places:
            fault = "every column holds lists, records or bytes" if names else "there is no column"
            cure = "give columns of numbers and texts"
            raise UnusableError(fault, where=self.path.name, cure=cure)
        return places

    def _batches(
        self, columns: Sequence[str] | None = None, chosen: np.ndarray | None = None
    ) -> Iterator[Any]:
        """Rows of columns, checked, since offsets of damaged files may point anywhere in memory."""
        import pyarrow as pa

        first, names = 0, list(columns or self._places)
        with _library_faults(self.path.name):
            for row_count, batches in self._row_groups([self._places[name] for name in names]):
                if chosen is not None:
                    begin, end = np.searchsorted(chosen, (first, first + row_count))
                    batches = batches if begin < end else ()
                    first += row_count * (begin == end)
                for batch in batches:
                    batch = batch.rename_columns(names) if self.is_renamed else batch
                    # pyarrow itself would follow an offset out of the file.
                    batch.validate(full=True)
                    last = first + batch.num_rows
                    if chosen is not None:
                        begin, end = np.searchsorted(chosen, (first, last))
                        batch = batch.take(pa.array(chosen[begin:end] - first))
                    first = last
                    yield batch

    def _row_groups(self, places: list[int]) -> Iterator[tuple[int, Iterable[Any]]]:
        import pyarrow as pa

        if self.kind == "feather":
            options = pa.ipc.IpcReadOptions(included_fields=places)
            with (
                pa.OSFile(str(self.path)) as source,
                pa.ipc.open_file(source, options=options) as file,
            ):
                for batch in map(file.get_batch, range(file.num_record_batches)):
                    yield batch.num_rows, [batch]
            return
        from pyarrow.parquet import ParquetFile

        fields = [self._file_schema.field(i) for i in places]
        # As codes: what the file holds once would be in memory for every row.
        texts = [field.name for field in fields if pa.types.is_string(field.type)]
        # A name that stands twice chooses two columns.
        wanted = None if self.is_renamed else [field.name for field in fields]
        with ParquetFile(self.path, read_dictionary=texts) as file:
            for i in range(file.num_row_groups):
                batches = file.iter_batches(_BATCH, row_groups=[i], columns=wanted)
                if self.is_renamed:
                    batches = (batch.select(places) for batch in batches)
                yield file.metadata.row_group(i).num_rows, batches

    @cached_property
    def _parsed(self) -> _Parsed:
        import pyarrow as pa

        max_bytes, batches, byte_count = self.max_bytes, list[Any](), 0
        # What the file states is checked before anything is unpacked; that it lies is found below.
        if self.chosen is None and self.kind == "parquet":
            stated = self._parquet_metadata
            groups = map(stated.row_group, range(stated.num_row_groups))
            unpacked = sum(group.total_byte_size for group in groups)
            if max(unpacked, 8 * stated.num_rows * len(self._places)) > max_bytes:
                raise self._too_large()
        for batch in self._batches(chosen=self.chosen):
            byte_count += batch.nbytes
            if byte_count > max_bytes:
                raise self._too_large()
            batches.append(batch)
        if not sum(batch.num_rows for batch in batches):
            raise UnusableError("there is no row", where=self.path.name, cure="add rows")
        with _library_faults(self.path.name):
            # Batches lose what pandas wrote about the index.
            metadata = None if self.is_renamed else self._file_schema.metadata
            stored = pa.Table.from_batches(batches).replace_schema_metadata(metadata)
            exact = exact_columns(stored)
            table = exact.to_pandas()
        if table.columns.nlevels > 1:
            table.columns = pd.Index([str(name) for name in table.columns])
        if sum(map(_text_bytes, (table[name] for name in table.columns))) > max_bytes:
            raise self._too_large()
        texts = [column.name.strip() for column in exact.schema if _is_text(column.type)]
        return _Parsed(table, texts, exact is stored and not self.is_renamed)

    def _too_large(self) -> UnusableError:
        error = too_large_error(self.path, self.max_bytes)
        return UnusableError(error.what, where=error.where, cure="draw some rows (--rows 100000)")

    def first_cells(self, required_column: str = "") -> dict[str, list[str]]:
        table = self._parsed.table
        names = [str(name).strip() for name in (*table.index.names, *table.columns)]
        cells = plain_columns(table.head(HEAD_ROWS), names)
        return {str(name): cells[name].astype(object).fillna("").tolist() for name in cells}

    def read(
        self, kinds: Mapping[str, str], missing: Sequence[str] = MISSING, required_column: str = ""
    ) -> RawTable:
        # The format itself marks what is missing, and names its columns.
        parsed, name = self._parsed, self.path.name
        text = [c for c, kind in kinds.items() if kind in ("category", "date", "text")]
        text = [*parsed.texts, *text]
        with _library_faults(name):
            table = plain_columns(parsed.table, text)
        reading: dict[str, Any] = {}
        if not parsed.is_usual:
            reading = {"places": self._places}
        elif len(self._places) < len(self._file_schema):
            reading = {"columns": [self._file_schema.names[i] for i in self._places.values()]}
        source = DataSource(
            str(self.path),
            self.kind,  # type: ignore[arg-type]
            saved_csv([column for column in dict.fromkeys(text) if column in table]),
            described=f"{_TITLES[self.kind]}, {len(table.columns):,} columns",
            reading=reading,
        )
        findings = tuple(self._findings(parsed.table))
        return RawTable(name, table, source, lambda row: row + 1, findings)

    def _findings(self, raw: pd.DataFrame) -> Iterator[Finding]:
        yield from self._names[1]
        if unreadable := [name for name in self._names[0] if name not in self._places]:
            verb = "is" if len(unreadable) == 1 else "are"
            what = f"{_holding(unreadable)} lists, records or bytes and {verb} left out."
            yield Finding(what, serious=True)
        if spans := [str(name) for name in raw.columns if raw[name].dtype.kind == "m"]:
            yield Finding(f"{_holding(spans)} spans of time, read in seconds.")
        index = raw.index
        if not isinstance(index, pd.RangeIndex) and all(name is None for name in index.names):
            yield Finding("The labels of the rows (an index without a name) are left out.")


def _holding(names: Sequence[str]) -> str:
    which = "Column {} holds" if len(names) == 1 else "The columns {} hold"
    return which.format(quoted_words(names))


def _text_bytes(values: pd.Series) -> int:
    if not isinstance(values.dtype, pd.CategoricalDtype):
        return 0
    lengths = np.array([len(str(text)) for text in values.cat.categories], dtype=np.int64)
    codes = values.cat.codes.to_numpy()
    return int(lengths[codes[codes >= 0]].sum())


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    texts = types.is_string, types.is_large_string, types.is_string_view, types.is_boolean
    others = types.is_dictionary, types.is_date, types.is_timestamp, types.is_time
    return any(test(kind) for test in (*texts, *others))


def _is_nested(kind: Any) -> bool:
    from pyarrow import types

    if types.is_dictionary(kind):
        return _is_nested(kind.value_type)
    numbers = (types.is_integer, types.is_floating, types.is_decimal, types.is_null)
    return not (_is_text(kind) or any(test(kind) for test in (*numbers, types.is_duration)))


def _damaged(name: str, reason: str) -> UnusableError:
    cure = "write it again, or save the table as CSV"
    return UnusableError(f"the file is damaged ({reason})", where=name, cure=cure)


@contextmanager
def _library_faults(name: str) -> Iterator[None]:
    try:
        yield
    except UnusableError:
        raise
    except Exception as error:  # pyarrow raises any error for damaged metadata
        raise _damaged(name, " ".join(f"{type(error).__name__}: {error}".split())[:120]) from None
