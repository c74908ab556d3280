"""Reads what the trades of sequences and molecules write: CoNLL, CoNLL-U, FASTA with structures."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from core.datasets.column_format import MISSING
from core.datasets.dataset import DataSource, saved_csv
from core.datasets.files import conll, dot_brackets
from core.datasets.files.column_names import unique_names
from core.datasets.files.file_bytes import GuardedFile, fingerprint, open_bytes
from core.datasets.files.sniffing import decode_head
from core.datasets.finding import Finding, SuggestedChange
from core.datasets.option_syntax import column_option
from core.datasets.raw_table import RawTable
from core.errors import UnusableError

_USUAL_TARGET = "UPOS"
_ANNOTATED = tuple(name for name in conll.UNIVERSAL if name not in ("ID", "FORM"))


@dataclass(frozen=True)
class _Content:
    """What a file holds."""

    columns: dict[str, list[str]]
    lines: list[int]  # of every row
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class LineFile:
    """A CoNLL or FASTA file with its first bytes; `compression` as of `compression_of`."""

    path: Path
    compression: str
    head: bytes
    kind: str  # conll or dot-brackets

    def first_cells(self, required_column: str = "") -> dict[str, list[str]]:
        """Every column's values as text."""
        return self._content_with(required_column).columns

    def read(
        self, kinds: Mapping[str, str], missing: Sequence[str] = MISSING, required_column: str = ""
    ) -> RawTable:
        """The table, all of it texts; raises UnusableError with the line of a fault."""
        content = self._content_with(required_column)
        lines = content.lines
        table = pd.DataFrame(content.columns, dtype="str")
        table = table.mask(~table.astype(bool))
        title = "CoNLL" if self.kind == "conll" else "FASTA with structures"
        source = DataSource(
            str(self.path),
            self.kind,  # type: ignore[arg-type]
            saved_csv(content.columns),
            {},
            fingerprint(self.path),
            ", ".join(filter(None, (title, self.compression))),
            self.compression,
        )

        def line_of(row: int) -> int:
            return lines[row] if row < len(lines) else 0

        findings = [*content.findings, *_annotation_finding(content, required_column)]
        return RawTable(self.path.name, table, source, line_of, tuple(findings))

    @cached_property
    def _content(self) -> _Content:
        return self._parsed(())

    def _content_with(self, column: str) -> _Content:
        """The content, its first line a header where only that names the column."""
        if self.kind != "conll" or not column or column in self._content.columns:
            return self._content
        return self._parsed((column,))

    def _parsed(self, required: Sequence[str]) -> _Content:
        with self.open_lines() as lines:
            try:
                if self.kind == "dot-brackets":
                    molecules = dot_brackets.dot_bracket_table(lines)
                    return _Content(molecules.columns, molecules.lines)
                tokens = conll.conll_table(lines, required)
            except (conll.ConllError, dot_brackets.DotBracketError) as fault:
                where = f"{self.path.name}, line {fault.line}"
                raise UnusableError(fault.fault, where=where, cure=fault.cure) from None
        names, findings = unique_names(tokens.names, self.path.name)
        columns = dict(zip(names, tokens.columns, strict=True))
        if tokens.is_universal:  # what is tagged by default comes last
            columns[_USUAL_TARGET] = columns.pop(_USUAL_TARGET)
        return _Content(columns, tokens.lines, (*findings, *_token_findings(tokens)))

    def open_lines(self) -> io.TextIOWrapper:
        """The lines of the file, with their ends."""
        encoding = decode_head(self.head)[0]
        encoding = "utf-8-sig" if encoding == "utf-8" else encoding
        raw = GuardedFile(open_bytes(self.path, self.compression), self.path.name, wide=True)
        return io.TextIOWrapper(io.BufferedReader(raw, 2**18), encoding, "replace", newline="")


def line_kind(text: str, *, complete: bool) -> str:
    """The kind conll or dot-brackets of a text, or of its beginning; "" for neither."""
    if dot_brackets.looks_like_dot_brackets(text):
        return "dot-brackets"
    return "conll" if conll.looks_like_conll(text, complete=complete) else ""


def _token_findings(tokens: conll.ConllTable) -> Iterator[Finding]:
    if tokens.compounds:
        lines = "1 line" if tokens.compounds == 1 else f"{tokens.compounds:,} lines"
        yield Finding(f"{lines} of multiword tokens and empty nodes (1-2, 1.1) are passed over.")
    if tokens.documents:
        marks = "1 mark" if tokens.documents == 1 else f"{tokens.documents:,} marks"
        yield Finding(f"{marks} of a document's beginning (-DOCSTART-) are passed over.")


def _annotation_finding(content: _Content, target: str) -> Iterator[Finding]:
    """CoNLL-U's other annotations, which a text has as little as the target."""
    target = target or _USUAL_TARGET
    others = [name for name in _ANNOTATED if name in content.columns and name != target]
    if len(others) == len(_ANNOTATED) - 1:
        options = " ".join(column_option("--role", name, "ignore") for name in others)
        offer = SuggestedChange("Leave them out", options, dict.fromkeys(others, "ignore"))
        sentence = (
            f"{target} is learned from the other annotations too ({', '.join(others)}); a text "
            "that nobody annotated has none of them."
        )
        yield Finding(sentence, proposal=offer)
