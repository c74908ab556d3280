"""Reads an ARFF file; weights of rows are left out, relational attributes refused."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from core.datasets.dataset import DataSource, saved_csv
from core.datasets.files.arff_grammar import ArffContent, ArffError, parse_arff
from core.datasets.files.column_names import unique_names
from core.datasets.files.file_bytes import GuardedFile, fingerprint, open_bytes
from core.datasets.files.sniffing import decode_head
from core.datasets.finding import Finding
from core.datasets.raw_table import RawTable
from core.datasets.stray_texts import are_few, stray_finding
from core.errors import UnusableError

MISSING = ("", "?")


def looks_like_arff(text: str) -> bool:
    """Whether the first line that is no comment begins an ARFF file."""
    lines = (line.strip() for line in io.StringIO(text))
    first = next((line for line in lines if line and not line.startswith("%")), "")
    word = first.removeprefix("\ufeff").split(maxsplit=1)[0].lower() if first else ""
    return word in ("@relation", "@attribute")


@dataclass(frozen=True)
class ArffFile:
    """An ARFF file with its first bytes; `compression` as of `compression_of`."""

    path: Path
    compression: str
    head: bytes

    def first_cells(self, required_column: str = "") -> dict[str, list[str]]:
        """Every column's first values as text."""
        rows = self._declared.first_rows
        columns = zip(*rows, strict=True)
        return {
            name: ["" if cell == "?" else cell for cell in cells]
            for name, cells in zip(self._names[0], columns, strict=True)
        }

    def read(
        self, kinds: Mapping[str, str], missing: Sequence[str] = MISSING, required_column: str = ""
    ) -> RawTable:
        """The table; raises UnusableError for a faulty line, or too many words among numbers."""
        names, findings = self._names
        words = ("category", "date", "text")
        attributes = zip(names, self._declared.attributes, strict=True)
        text = [n for n, a in attributes if a.kind == "number" and kinds.get(n) in words]
        content = self._parsed(text, names) if text else self._declared
        table = content.table.set_axis(names, axis=1)
        findings = [*findings, *self._findings(content, table)]
        reading: dict[str, Any] = {"encoding": self._encoding}
        reading |= {"text": text} if text else {}
        reading |= {"names": names} if names != list(content.table.columns) else {}
        texts = [str(name) for name in names if table[name].dtype.kind not in "iuf"]
        source = DataSource(
            str(self.path),
            "arff",
            saved_csv(texts, MISSING),
            {},
            fingerprint(self.path),
            ", ".join(filter(None, ("ARFF", self.compression))),
            self.compression,
            reading=reading,
        )
        lines = content.lines

        def line_of(row: int) -> int:
            return lines[row] if row < len(lines) else 0

        return RawTable(self.path.name, table, source, line_of, tuple(findings))

    @cached_property
    def _declared(self) -> ArffContent:
        return self._parsed((), ())

    @cached_property
    def _names(self) -> tuple[list[str], list[Finding]]:
        return unique_names([a.name for a in self._declared.attributes], self.path.name)

    @cached_property
    def _encoding(self) -> str:
        encoding = decode_head(self.head)[0]
        return "utf-8-sig" if encoding == "utf-8" else encoding

    def _parsed(self, text: Collection[str], names: Sequence[str]) -> ArffContent:
        raw = GuardedFile(open_bytes(self.path, self.compression), self.path.name, wide=True)
        with io.TextIOWrapper(
            io.BufferedReader(raw, 2**18), self._encoding, "replace", newline=""
        ) as lines:
            try:
                return parse_arff(lines, text, names)
            except ArffError as fault:
                where = f"{self.path.name}, line {fault.line}"
                raise UnusableError(fault.fault, where=where, cure=fault.cure) from None

    def _findings(self, content: ArffContent, table: pd.DataFrame) -> Iterator[Finding]:
        if content.weighted:
            several = f"{content.weighted:,} rows have weights"
            rows = "1 row has a weight" if content.weighted == 1 else several
            yield Finding(f"{rows}, left out here: every row counts as much as another.")
        for column, counts in content.strays.items():
            strays = pd.Series(list(counts.elements()), dtype="str")
            if not are_few(strays, len(table)):
                raise UnusableError(
                    f"“{strays.iloc[0][:60]}” is no number, and {len(strays):,} values are like it",
                    where=f"{self.path.name}, column {column}",
                    cure="declare the attribute as string, or let the column be a category",
                )
            if len(strays):
                yield stray_finding(column, strays)
