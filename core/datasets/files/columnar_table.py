"""Reads a Parquet or Feather file by one repeatable call of pandas."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.column_format import MISSING
from core.datasets.dataset import DataSource, saved_csv
from core.datasets.files.file_bytes import fingerprint
from core.datasets.files.packages import check_package
from core.datasets.files.plain_columns import plain_columns
from core.datasets.files.unpacking_limits import max_unpacked_bytes, too_large_error
from core.datasets.finding import Finding
from core.datasets.raw_table import RawTable
from core.datasets.sampling.row_sampling import MAX_LABELS
from core.errors import UnusableError

_MIN_BYTE_LIMIT = 2**30  # bytes that any file may unpack to, as equal values take no space
_BATCH = 2**16  # rows unpacked at a time
_HEAD_ROWS = 500
_TITLES = {"parquet": "Parquet", "feather": "Feather (Arrow)"}


@dataclass(frozen=True)
class ColumnarFile:
    """A Parquet or Feather file; `chosen` are row numbers to read, from 0, sorted, None for all."""

    path: Path
    kind: str
    chosen: np.ndarray | None = field(default=None, compare=False, repr=False)

    def count_labels(self, name: str | None = None) -> tuple[int, np.ndarray | None]:
        """The number of rows, and codes of a column's values; None above `MAX_LABELS` values."""
        column = self._readable_columns[0] if name is None else name
        code_of_value, codes, total = dict[Any, int](), array("H"), 0
        with _library_faults(self.path.name):
            for batch in _batches(self.path, self.kind, [column]):
                total += batch.num_rows
                if name is None or len(code_of_value) > MAX_LABELS:
                    continue
                batch.validate(full=True)
                values = batch.column(0)
                if hasattr(values, "dictionary_decode"):
                    values = values.dictionary_decode()
                coded = values.dictionary_encode(null_encoding="encode")
                distinct = map(str, coded.dictionary.to_pylist())
                batch_codes = [code_of_value.setdefault(v, len(code_of_value)) for v in distinct]
                value_indices = coded.indices.to_numpy(zero_copy_only=False)
                codes.extend(np.array([*batch_codes, 0], dtype=np.uint16)[value_indices].tolist())
        if self.kind == "parquet" and total != (stated_rows := self._stated_row_count()):
            raise UnusableError(
                f"the file is damaged (it says that it has {stated_rows:,} rows, and has "
                f"{total:,})",
                where=self.path.name,
                cure="write it again, or save the table as CSV",
            )
        has_codes = name is not None and len(code_of_value) <= MAX_LABELS and total > 0
        return total, np.frombuffer(codes, dtype=np.uint16) if has_codes else None

    def bytes_of_rows(self) -> float:
        """The approximate memory of all rows in pandas."""
        with _library_faults(self.path.name):
            first = next(_batches(self.path, self.kind, self._readable_columns), None)
            if first is None or first.num_rows == 0:
                return 0.0
            head = first.slice(0, _HEAD_ROWS)
            head.validate(full=True)
            table = head.to_pandas()
            deep_bytes = float(table.memory_usage(deep=True, index=False).sum())
            rows = self._stated_row_count() if self.kind == "parquet" else self.count_labels()[0]
        return max(deep_bytes, 8.0 * table.size) / len(table) * rows

    def _stated_row_count(self) -> int:
        from pyarrow.parquet import ParquetFile

        with ParquetFile(self.path) as file:
            return int(file.metadata.num_rows)

    def column_named(self, name: str) -> str | None:
        """The column's name in the file, by its name stripped of blanks."""
        return next((column for column in self._readable_columns if column.strip() == name), None)

    @property
    def column_names(self) -> list[str]:
        """The readable columns, stripped of blanks."""
        return [name.strip() for name in self._readable_columns]

    @cached_property
    def _file_schema(self) -> Any:
        check_package("pyarrow", self.path.name)
        with _library_faults(self.path.name):
            if self.kind == "parquet":
                from pyarrow.parquet import read_schema

                return read_schema(self.path)
            return _arrow_table(self.path, None, 1).schema

    @cached_property
    def _readable_columns(self) -> list[str]:
        names = [name.strip() for name in self._file_schema.names]
        repeated_name, times = next(iter(Counter(names).most_common(1)), ("", 0))
        if times > 1:
            fault = f"{times} columns are called “{repeated_name}”"
            cure = "give every column a name of its own"
            raise UnusableError(fault, where=self.path.name, cure=cure)
        columns = [field.name for field in self._file_schema if not _is_nested(field.type)]
        if not columns:
            fault = "every column holds lists, records or bytes" if names else "there is no column"
            cure = "give columns of numbers and texts"
            raise UnusableError(fault, where=self.path.name, cure=cure)
        return columns

    @cached_property
    def _parsed_table(self) -> pd.DataFrame:
        max_bytes = max(_MIN_BYTE_LIMIT, max_unpacked_bytes(self.path.stat().st_size))
        with _library_faults(self.path.name):
            read = _parquet_table if self.kind == "parquet" else _arrow_table
            table = read(self.path, self._readable_columns, max_bytes, self.chosen).to_pandas()
        if table.columns.nlevels > 1:
            table.columns = pd.Index([str(name) for name in table.columns])
        if table.empty:
            raise UnusableError("there is no row", where=self.path.name, cure="add rows")
        if sum(map(_text_bytes, (table[name] for name in table.columns))) > max_bytes:
            raise too_large_error(self.path)
        return table

    def first_cells(self, required_column: str = "") -> dict[str, list[str]]:
        """Every column's first values as text."""
        table = self._parsed_table
        names = [str(name).strip() for name in (*table.index.names, *table.columns)]
        cells = plain_columns(table.head(_HEAD_ROWS), names)
        return {str(name): cells[name].fillna("").tolist() for name in cells}

    def read(
        self, kinds: Mapping[str, str], missing: Sequence[str] = MISSING, required_column: str = ""
    ) -> RawTable:
        """The table; the format itself marks what is missing, and names its columns."""
        raw, name = self._parsed_table, self.path.name
        text = self._names_of_texts()
        text += [c for c, kind in kinds.items() if kind in ("category", "date", "text")]
        text = list(dict.fromkeys(text))
        findings = list(self._findings())
        with _library_faults(name):
            table = plain_columns(raw, text)
        text = [column for column in text if column in table]
        source = DataSource(
            str(self.path),
            self.kind,  # type: ignore[arg-type]
            saved_csv(text),
            {},
            "" if self.chosen is not None else fingerprint(self.path),  # of whole files only
            f"{_TITLES[self.kind]}, {len(table.columns):,} columns",
            reading={"columns": self._readable_columns}
            if len(self._readable_columns) < len(self._file_schema)
            else {},
        )
        return RawTable(name, table, source, lambda row: row + 1, tuple(findings))

    def _names_of_texts(self) -> list[str]:
        from pyarrow import types

        tests = (
            *(types.is_string, types.is_large_string, types.is_string_view, types.is_boolean),
            *(types.is_dictionary, types.is_date, types.is_timestamp, types.is_time),
        )
        by_type = {f.name.strip(): any(test(f.type) for test in tests) for f in self._file_schema}
        raw = self._parsed_table
        names = [str(name).strip() for name in raw.columns]
        named = [str(name).strip() for name in raw.index.names if name is not None]
        wide = {str(name).strip() for name in raw.columns if _is_beyond_float(raw[name])}
        return [name for name in (*named, *names) if by_type.get(name, True) or name in wide]

    def _findings(self) -> Iterator[Finding]:
        readable = set(self._readable_columns)
        unreadable = [name for name in self._file_schema.names if name not in readable]
        if unreadable:
            names = ", ".join(f"“{name}”" for name in unreadable[:5])
            names += " …" if len(unreadable) > 5 else ""
            is_single = len(unreadable) == 1
            which = f"Column {names} holds" if is_single else f"The columns {names} hold"
            verb = "is" if is_single else "are"
            yield Finding(f"{which} lists, records or bytes and {verb} left out.", serious=True)
        index = self._parsed_table.index
        if not isinstance(index, pd.RangeIndex) and all(name is None for name in index.names):
            yield Finding("The labels of the rows (an index without a name) are left out.")


def _text_bytes(values: pd.Series) -> int:
    """The letters of a column whose texts the file holds once each."""
    if not isinstance(values.dtype, pd.CategoricalDtype):
        return 0
    lengths = np.array([len(str(text)) for text in values.cat.categories], dtype=np.int64)
    codes = values.cat.codes.to_numpy()
    return int(lengths[codes[codes >= 0]].sum())


def _is_beyond_float(values: pd.Series) -> bool:
    """Whether whole numbers exceed those with a sign: as floats they would be alike."""
    return values.dtype.kind == "u" and bool(len(values)) and values.max() >= 2**63


def _is_nested(kind: Any) -> bool:
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    plain = (
        *(types.is_string, types.is_large_string, types.is_string_view, types.is_boolean),
        *(types.is_integer, types.is_floating, types.is_decimal, types.is_null),
        *(types.is_date, types.is_timestamp, types.is_time, types.is_duration),
    )
    return not any(test(kind) for test in plain)


def _parquet_table(
    path: Path, columns: list[str], max_bytes: int, chosen: np.ndarray | None = None
) -> Any:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    schema = ParquetFile(path).schema_arrow
    texts = [f.name for f in schema if f.name in columns and pa.types.is_string(f.type)]
    with ParquetFile(path, read_dictionary=texts) as file:
        metadata = file.metadata
        groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
        unpacked = sum(group.total_byte_size for group in groups)
        if chosen is None and max(unpacked, 8 * metadata.num_rows * len(columns)) > max_bytes:
            raise too_large_error(path)
        all_batches = file.iter_batches(_BATCH, columns=columns)
        if chosen is not None:
            sizes = np.array([group.num_rows for group in groups])
            firsts = np.cumsum(sizes) - sizes
            lasts = firsts + sizes
            is_wanted = np.searchsorted(chosen, lasts) > np.searchsorted(chosen, firsts)
            skipped_rows = np.cumsum(np.where(is_wanted, 0, sizes))
            chosen = chosen - skipped_rows[np.searchsorted(lasts, chosen, side="right")]
            wanted_groups = np.flatnonzero(is_wanted).tolist()
            all_batches = file.iter_batches(_BATCH, row_groups=wanted_groups, columns=columns)
        batches = _bounded_batches(all_batches, path, max_bytes, chosen)
        if not batches:
            return schema.empty_table()
        # Batches lose what pandas wrote about the index.
        return pa.Table.from_batches(batches).replace_schema_metadata(schema.metadata)


def _arrow_table(
    path: Path, columns: list[str] | None, max_bytes: int, chosen: np.ndarray | None = None
) -> Any:
    import pyarrow as pa

    with pa.OSFile(str(path)) as source, pa.ipc.open_file(source) as file:
        if columns is None:
            return file.schema.empty_table()
        column_indices = [file.schema.names.index(name) for name in columns]
        options = pa.ipc.IpcReadOptions(included_fields=column_indices)
    with pa.OSFile(str(path)) as source, pa.ipc.open_file(source, options=options) as file:
        all_batches = (file.get_batch(i) for i in range(file.num_record_batches))
        batches = _bounded_batches(all_batches, path, max_bytes, chosen)
        return pa.Table.from_batches(batches, file.schema).select(columns)


def _batches(path: Path, kind: str, columns: list[str]) -> Iterator[Any]:
    import pyarrow as pa

    if kind == "parquet":
        from pyarrow.parquet import ParquetFile

        with ParquetFile(path) as file:
            yield from file.iter_batches(_BATCH, columns=columns)
        return
    with pa.OSFile(str(path)) as source, pa.ipc.open_file(source) as file:
        column_indices = [file.schema.names.index(name) for name in columns]
    options = pa.ipc.IpcReadOptions(included_fields=column_indices)
    with pa.OSFile(str(path)) as source, pa.ipc.open_file(source, options=options) as file:
        for number in range(file.num_record_batches):
            yield file.get_batch(number)


def _bounded_batches(
    batches: Iterator[Any], path: Path, max_bytes: int, chosen: np.ndarray | None = None
) -> list[Any]:
    import pyarrow as pa

    row_batches, byte_count, first = [], 0, 0
    for batch in batches:
        if chosen is not None:
            n_rows = batch.num_rows
            begin, end = np.searchsorted(chosen, (first, first + n_rows))
            batch.validate(full=True)
            batch = batch.take(pa.array(chosen[begin:end] - first))
            first += n_rows
        byte_count += batch.nbytes
        if byte_count > max_bytes:
            raise too_large_error(path)
        batch.validate(full=True)  # offsets of damaged files may point anywhere in memory
        row_batches.append(batch)
    return row_batches


@contextmanager
def _library_faults(name: str) -> Iterator[None]:
    try:
        yield
    except UnusableError:
        raise
    except Exception as error:  # pyarrow raises any error for damaged metadata
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:120]
        cure = "write it again, or save the table as CSV"
        raise UnusableError(f"the file is damaged ({reason})", where=name, cure=cure) from None
