"""A Parquet or Feather file becomes a table, by a call of pandas that anyone can repeat."""

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

from core.datasets.dataset import DataSource
from core.datasets.files.csv_table import few_strays, stray_finding
from core.datasets.files.delimiters import is_number
from core.datasets.files.file_bytes import fingerprint
from core.datasets.files.packages import check_package
from core.datasets.files.plain_columns import plain_columns
from core.datasets.files.sniffing import MISSING
from core.datasets.files.unpacking_limits import max_unpacked_bytes, too_large_error
from core.datasets.finding import Finding
from core.datasets.raw_table import RawTable
from core.datasets.sampling.row_sampling import MAX_LABELS
from core.errors import UnusableError

_MIN_BYTE_LIMIT = 2**30  # bytes that any file may unpack to: equal values take no room in it
_BATCH = 2**16  # rows that are unpacked at a time
_HEAD_ROWS = 500
_TITLES = {"parquet": "Parquet", "feather": "Feather (Arrow)"}


@dataclass(frozen=True)
class ColumnarFile:
    """A file of columns.

    Attributes:
        path: the file.
        kind: parquet or feather.
        chosen: the numbers of the rows that are read, from 0, sorted; None for all.
    """

    path: Path
    kind: str
    chosen: np.ndarray | None = field(default=None, compare=False, repr=False)

    def count_labels(self, name: str | None = None) -> tuple[int, np.ndarray | None]:
        """How many rows there are, and the code of every row's value of a column.

        The codes are None for no column, or where it has more than `MAX_LABELS` values.

        Raises:
            UnusableError: damaged, or not as many rows as the file says.
        """
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
                batch_values = coded.dictionary.to_pylist()
                batch_codes = [
                    code_of_value.setdefault(str(value), len(code_of_value))
                    for value in batch_values
                ]
                value_indices = coded.indices.to_numpy(zero_copy_only=False)
                codes.extend(np.array([*batch_codes, 0], dtype=np.uint16)[value_indices].tolist())
        if self.kind == "parquet" and total != (stated_rows := self._stated_row_count()):
            raise UnusableError(
                f"the file is damaged (it says that it has {stated_rows:,} rows, and has "
                f"{total:,})",
                where=self.path.name,
                cure="write it again, or save the table as CSV",
            )
        sound = name is not None and len(code_of_value) <= MAX_LABELS
        return total, np.frombuffer(codes, dtype=np.uint16) if sound and total else None

    def bytes_of_rows(self) -> float:
        """About the memory that all rows take as pandas has them."""
        with _library_faults(self.path.name):
            first = next(_batches(self.path, self.kind, self._readable_columns), None)
            if first is None or first.num_rows == 0:
                return 0.0
            head = first.slice(0, _HEAD_ROWS)
            head.validate(full=True)
            table = head.to_pandas()
            head_bytes = max(
                float(table.memory_usage(deep=True, index=False).sum()), 8.0 * table.size
            )
            rows = self._stated_row_count() if self.kind == "parquet" else self.count_labels()[0]
        return head_bytes / len(table) * rows

    def _stated_row_count(self) -> int:
        """How many rows the file says that it has."""
        from pyarrow.parquet import ParquetFile

        with ParquetFile(self.path) as file:
            return int(file.metadata.num_rows)

    def column_named(self, name: str) -> str | None:
        """A column by its name without blanks at the ends, as the file has it."""
        return next((column for column in self._readable_columns if column.strip() == name), None)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns that can be read, without blanks at the ends."""
        return [name.strip() for name in self._readable_columns]

    @cached_property
    def _file_schema(self) -> Any:
        """The names and types of its columns, a pyarrow.Schema."""
        check_package("pyarrow", self.path.name)
        with _library_faults(self.path.name):
            if self.kind == "parquet":
                from pyarrow.parquet import read_schema

                return read_schema(self.path)
            return _arrow_table(self.path, None, 1).schema

    @cached_property
    def _readable_columns(self) -> list[str]:
        """The columns whose values are no lists, records or bytes.

        Raises:
            UnusableError: there is none, or several have one name.
        """
        names = [name.strip() for name in self._file_schema.names]
        repeated_name, times = next(iter(Counter(names).most_common(1)), ("", 0))
        if times > 1:
            raise UnusableError(
                f"{times} columns are called “{repeated_name}”",
                where=self.path.name,
                cure="give every column a name of its own",
            )
        columns = [field.name for field in self._file_schema if not _is_nested(field.type)]
        if not columns:
            raise UnusableError(
                "every column holds lists, records or bytes" if names else "there is no column",
                where=self.path.name,
                cure="give columns of numbers and texts",
            )
        return columns

    @cached_property
    def _parsed_table(self) -> pd.DataFrame:
        """The kept columns as pandas reads them.

        Raises:
            UnusableError: damaged, too large, or without rows.
        """
        max_bytes = max(_MIN_BYTE_LIMIT, max_unpacked_bytes(self.path.stat().st_size))
        with _library_faults(self.path.name):
            read_arrow = _parquet_table if self.kind == "parquet" else _arrow_table
            table = read_arrow(
                self.path, self._readable_columns, max_bytes, self.chosen
            ).to_pandas()
        if table.columns.nlevels > 1:
            table.columns = pd.Index([str(name) for name in table.columns])
        if table.empty:
            raise UnusableError("there is no row", where=self.path.name, cure="add rows")
        return table

    def first_cells(self, required_column: str = "") -> dict[str, list[str]]:
        """Every column's first values as text.

        Raises:
            UnusableError: whatever makes it no table.
        """
        all_names = [
            str(n).strip() for n in (*self._parsed_table.index.names, *self._parsed_table.columns)
        ]
        cells = plain_columns(self._parsed_table.head(_HEAD_ROWS), all_names, ())
        return {str(name): cells[name].fillna("").tolist() for name in cells}

    def read(
        self, kinds: Mapping[str, str], missing: Sequence[str] = MISSING, required_column: str = ""
    ) -> RawTable:
        """The table.

        Args:
            kinds: {column: kind} where a person or the training file has decided.
            missing: texts that stand for nothing.
            required_column: passed over: the columns have names.

        Raises:
            UnusableError: whatever makes it no table.
        """
        raw, name = self._parsed_table, self.path.name
        text = [column for column in self._names_of_texts() if kinds.get(column) != "number"]
        text += [c for c, kind in kinds.items() if kind in ("category", "date", "text")]
        text = list(dict.fromkeys(text))
        findings = [*self._findings(), *self._stray_findings(raw, kinds, missing)]
        with _library_faults(name):
            table = plain_columns(raw, text, missing)
        text = [column for column in text if column in table]
        _refuse_infinity(table, name)
        source = DataSource(
            str(self.path),
            self.kind,  # type: ignore[arg-type]
            {
                "sep": ",",
                "encoding": "utf-8",
                "index_col": False,
                "na_values": list(missing),
                "keep_default_na": False,
                **({"dtype": dict.fromkeys(text, "str")} if text else {}),
            },
            {},
            "" if self.chosen is not None else fingerprint(self.path),  # a part is told by others
            f"{_TITLES[self.kind]}, {len(table.columns):,} columns",
            reading={"columns": self._readable_columns}
            if len(self._readable_columns) < len(self._file_schema)
            else {},
        )
        return RawTable(name, table, source, lambda row: row + 1, tuple(findings))

    def _names_of_texts(self) -> list[str]:
        """The columns that the file says are texts, truth values, dates or categories."""
        from pyarrow import types

        tests = (
            *(types.is_string, types.is_large_string, types.is_string_view, types.is_boolean),
            *(types.is_dictionary, types.is_date, types.is_timestamp, types.is_time),
        )
        by_type = {f.name.strip(): any(test(f.type) for test in tests) for f in self._file_schema}
        raw = self._parsed_table
        names = [str(name).strip() for name in raw.columns]
        named = [str(name).strip() for name in raw.index.names if name is not None]
        return [name for name in (*named, *names) if by_type.get(name, True)]

    def _stray_findings(
        self, raw: pd.DataFrame, kinds: Mapping[str, str], missing: Sequence[str]
    ) -> Iterator[Finding]:
        """What is said of texts that a person called numbers."""
        texts = set(self._names_of_texts())
        for column in raw.columns:
            name = str(column).strip()
            if kinds.get(name) != "number" or name not in texts:
                continue
            words = raw[column].dropna().astype(object).map(str)
            odd = words[[not is_number(word) and word not in missing for word in words]]
            if not few_strays(odd, len(raw)):
                raise UnusableError(
                    f"“{odd.iloc[0]}” is no number, and {len(odd):,} values are like it",
                    where=f"{self.path.name}, column {name}",
                    cure="let the column be a category",
                )
            if len(odd):
                yield stray_finding(name, len(odd), list(odd.unique()))

    def _findings(self) -> Iterator[Finding]:
        readable_names = set(self._readable_columns)
        unreadable_names = [name for name in self._file_schema.names if name not in readable_names]
        if unreadable_names:
            name_list = ", ".join(f"“{name}”" for name in unreadable_names[:5]) + (
                " …" if len(unreadable_names) > 5 else ""
            )
            which = (
                f"Column {name_list} holds"
                if len(unreadable_names) == 1
                else f"The columns {name_list} hold"
            )
            verb = "is" if len(unreadable_names) == 1 else "are"
            yield Finding(f"{which} lists, records or bytes and {verb} left out.", serious=True)
        index = self._parsed_table.index
        if not isinstance(index, pd.RangeIndex) and all(name is None for name in index.names):
            yield Finding("The labels of the rows (an index without a name) are left out.")


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
    """The columns, a pyarrow.Table; texts are kept once each, with a number in every row."""
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
            is_wanted_group = np.searchsorted(chosen, firsts + sizes) > np.searchsorted(
                chosen, firsts
            )
            chosen = _rows_within_groups(chosen, firsts, sizes, is_wanted_group)
            wanted_groups = np.flatnonzero(is_wanted_group).tolist()
            all_batches = file.iter_batches(_BATCH, row_groups=wanted_groups, columns=columns)
        batches = _bounded_batches(all_batches, path, max_bytes, chosen)
        if not batches:
            return schema.empty_table()
        # What pandas wrote about the index: the batches have lost it.
        return pa.Table.from_batches(batches).replace_schema_metadata(schema.metadata)


def _arrow_table(
    path: Path, columns: list[str] | None, max_bytes: int, chosen: np.ndarray | None = None
) -> Any:
    """The columns, a pyarrow.Table; without any columns named, one that only has a schema."""
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
    """Some columns of all rows, a pyarrow.RecordBatch after the other."""
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


def _rows_within_groups(
    chosen: np.ndarray, firsts: np.ndarray, sizes: np.ndarray, is_wanted_group: np.ndarray
) -> np.ndarray:
    """The numbers of rows where only the groups of rows that hold some of them are read."""
    left_out = np.cumsum(np.where(is_wanted_group, 0, sizes))
    return chosen - left_out[np.searchsorted(firsts + sizes, chosen, side="right")]


def _bounded_batches(
    batches: Iterator[Any], path: Path, max_bytes: int, chosen: np.ndarray | None = None
) -> list[Any]:
    """The batches of rows, as long as they do not hold more bytes than the file may."""
    import pyarrow as pa

    row_batches, byte_count, first = [], 0, 0
    for batch in batches:
        if chosen is not None:
            rows_in_batch = (
                chosen[slice(*np.searchsorted(chosen, (first, first + batch.num_rows)))] - first
            )
            first += batch.num_rows
            batch.validate(full=True)
            batch = batch.take(pa.array(rows_in_batch))
        byte_count += batch.nbytes
        if byte_count > max_bytes:
            raise too_large_error(path)
        batch.validate(full=True)  # offsets of damaged files point anywhere in the memory
        row_batches.append(batch)
    return row_batches


@contextmanager
def _library_faults(name: str) -> Iterator[None]:
    """Turn whatever the library says of a damaged file into one sentence.

    Raises:
        UnusableError: it cannot be read.
    """
    try:
        yield
    except UnusableError:
        raise
    except Exception as error:  # besides its own errors it raises any, for spoilt descriptions
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:120]
        raise UnusableError(
            f"the file is damaged ({reason})",
            where=name,
            cure="write it again, or save the table as CSV",
        ) from None


def _refuse_infinity(table: pd.DataFrame, name: str) -> None:
    for column in table.columns:
        values = table[column]
        if values.dtype.kind == "f" and (endless := np.isinf(values.to_numpy())).any():
            raise UnusableError(
                "the value is infinite",
                where=f"{name}, row {int(endless.argmax()) + 1}, column {column}",
                cure="give a finite number, or none",
            )
