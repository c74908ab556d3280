"""Reads what the trades write line by line: ARFF, CoNLL, CoNLL-U, FASTA with structures."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pandas as pd

from core.datasets.cell_values import cell_text
from core.datasets.column_format import MISSING
from core.datasets.dataset import DataSource, saved_csv
from core.datasets.files import conll, dot_brackets
from core.datasets.files.arff_grammar import ArffContent, ArffError, parse_arff
from core.datasets.files.file_bytes import TextSource
from core.datasets.files.table_reader import HEAD_ROWS, FileStart, TableReader, unique_names
from core.datasets.finding import Finding, SuggestedChange, column_option
from core.datasets.raw_table import RawTable, are_few, stray_finding
from core.errors import UnusableError

_ARFF_MISSING = ("", "?")
_USUAL_TARGET = "UPOS"
_ANNOTATED = tuple(name for name in conll.UNIVERSAL if name not in ("ID", "FORM"))


@dataclass(frozen=True)
class _Content:
    table: pd.DataFrame
    lines: list[int]  # of every row
    findings: tuple[Finding, ...] = ()
    reading: dict[str, Any] = field(default_factory=dict)  # arguments of `read_arff`


@dataclass(frozen=True)
class _Lines(TextSource, TableReader):
    """A text whose lines have a grammar of their own."""

    def _unusable(self, fault: ArffError | conll.LineError) -> UnusableError:
        where = f"{self.path.name}, line {fault.line}"
        return UnusableError(fault.fault, where=where, cure=fault.cure)

    def _raw_table(
        self, content: _Content, kind: str, title: str, missing: Sequence[str] = ("",)
    ) -> RawTable:
        table, lines = content.table, content.lines
        source = DataSource(
            str(self.path),
            kind,  # type: ignore[arg-type]
            saved_csv([str(c) for c in table if table[c].dtype.kind not in "iuf"], missing),
            {},
            "",
            ", ".join(filter(None, (title, self.compression))),
            self.compression,
            reading=content.reading,
        )

        def line_of(row: int) -> int:
            return lines[row] if row < len(lines) else 0

        return RawTable(self.path.name, table, source, line_of, content.findings)


@dataclass(frozen=True)
class ArffFile(_Lines):
    """An ARFF file; weights of rows are left out, relational attributes refused."""

    @classmethod
    def recognize(cls, start: FileStart) -> ArffFile | None:
        # By the first line that is no comment.
        lines = (line.strip() for line in io.StringIO(start.text))
        first = next((line for line in lines if line and not line.startswith("%")), "")
        words = first.removeprefix("\ufeff").split(maxsplit=1)
        is_arff = bool(words) and words[0].lower() in ("@relation", "@attribute")
        return cls(start.path, start.compression, start.head) if is_arff else None

    def first_cells(self, required_column: str = "") -> dict[str, list[str]]:
        return _head_cells(self._declared.table.set_axis(self._names[0], axis=1))

    def read(
        self, kinds: Mapping[str, str], missing: Sequence[str] = MISSING, required_column: str = ""
    ) -> RawTable:
        names, findings = self._names
        attributes = self._declared.attributes
        numbers = [n for n, a in zip(names, attributes, strict=True) if a.kind == "number"]
        text = [name for name in numbers if kinds.get(name) in ("category", "date", "text")]
        # Words among numbers are kept only where a person reads the column as text.
        content = self._parsed(text, names) if text else self._declared
        reading: dict[str, Any] = {"encoding": self.encoding}
        reading |= {"text": text} if text else {}
        reading |= {"names": names} if names != [a.name for a in attributes] else {}
        table = content.table.set_axis(names, axis=1)
        findings = [*findings, *self._findings(content)]
        read = _Content(table, content.lines, tuple(findings), reading)
        return self._raw_table(read, "arff", "ARFF", _ARFF_MISSING)

    @cached_property
    def _declared(self) -> ArffContent:
        return self._parsed((), ())

    @cached_property
    def _names(self) -> tuple[list[str], list[Finding]]:
        return unique_names([a.name for a in self._declared.attributes], self.path.name)

    def _parsed(self, text: Sequence[str], names: Sequence[str]) -> ArffContent:
        with self.open_lines() as lines:
            try:
                return parse_arff(lines, text, names)
            except ArffError as fault:
                raise self._unusable(fault) from None

    def _findings(self, content: ArffContent) -> Iterator[Finding]:
        if content.weighted:
            several = f"{content.weighted:,} rows have weights"
            rows = "1 row has a weight" if content.weighted == 1 else several
            yield Finding(f"{rows}, left out here: every row counts as much as another.")
        for column, counts in content.strays.items():
            # The header declares the column as numeric, so some words are an error of the file.
            strays = pd.Series(list(counts.elements()), dtype="str")
            if not are_few(strays, len(content.lines)):
                raise UnusableError(
                    f"“{strays.iloc[0][:60]}” is no number, and {len(strays):,} values are like it",
                    where=f"{self.path.name}, column {column}",
                    cure="declare the attribute as string, or let the column be a category",
                )
            if len(strays):
                yield stray_finding(column, strays)


@dataclass(frozen=True)
class LineFile(_Lines):
    """A CoNLL or FASTA file."""

    kind: str  # conll or dot-brackets

    @classmethod
    def recognize(cls, start: FileStart) -> LineFile | None:
        kind = ""
        if dot_brackets.looks_like_dot_brackets(start.text):
            kind = "dot-brackets"
        elif conll.looks_like_conll(start.text, complete=start.is_complete):
            kind = "conll"
        return cls(start.path, start.compression, start.head, kind) if kind else None

    def first_cells(self, required_column: str = "") -> dict[str, list[str]]:
        return _head_cells(self._content_with(required_column).table)

    def read(
        self, kinds: Mapping[str, str], missing: Sequence[str] = MISSING, required_column: str = ""
    ) -> RawTable:
        # All of it is texts.
        content = self._content_with(required_column)
        title = "CoNLL" if self.kind == "conll" else "FASTA with structures"
        raw = self._raw_table(content, self.kind, title)
        findings = (*content.findings, *_annotation_finding(raw, required_column))
        return replace(raw, findings=findings)

    @cached_property
    def _content(self) -> _Content:
        return self._parsed(())

    def _content_with(self, column: str) -> _Content:
        """The content, its first line a header where only that names the column."""
        if self.kind != "conll" or not column or column in self._content.table:
            return self._content
        return self._parsed((column,))

    def _parsed(self, required: Sequence[str]) -> _Content:
        findings: list[Finding] = []
        with self.open_lines() as lines:
            try:
                if self.kind == "dot-brackets":
                    molecules = dot_brackets.dot_bracket_table(lines)
                    columns, line_numbers = molecules.columns, molecules.lines
                else:
                    tokens = conll.conll_table(lines, required)
                    names, findings = unique_names(tokens.names, self.path.name)
                    columns = dict(zip(names, tokens.columns, strict=True))
                    line_numbers = tokens.lines
                    findings += _token_findings(tokens)
            except conll.LineError as fault:
                raise self._unusable(fault) from None
        if set(conll.UNIVERSAL) <= set(columns):  # what is tagged by default comes last
            columns[_USUAL_TARGET] = columns.pop(_USUAL_TARGET)
        table = pd.DataFrame(columns, dtype="str")
        return _Content(table.mask(~table.astype(bool)), line_numbers, tuple(findings))


def _head_cells(table: pd.DataFrame) -> dict[str, list[str]]:
    columns = ((str(name), table[name].head(HEAD_ROWS)) for name in table)
    return {name: ["" if pd.isna(c) else cell_text(c) for c in cells] for name, cells in columns}


def _token_findings(tokens: conll.ConllTable) -> Iterator[Finding]:
    for count, noun, what in (
        (tokens.compounds, "line", "multiword tokens and empty nodes (1-2, 1.1)"),
        (tokens.documents, "mark", "a document's beginning (-DOCSTART-)"),
    ):
        if count:
            which = f"1 {noun} of {what} is" if count == 1 else f"{count:,} {noun}s of {what} are"
            yield Finding(f"{which} passed over.")


def _annotation_finding(raw: RawTable, target: str) -> Iterator[Finding]:
    """CoNLL-U's other annotations, which a text has as little as the target."""
    target = target or _USUAL_TARGET
    others = [name for name in _ANNOTATED if name in raw.table and name != target]
    if len(others) == len(_ANNOTATED) - 1:
        options = " ".join(column_option("--role", name, "ignore") for name in others)
        offer = SuggestedChange("Leave them out", options, dict.fromkeys(others, "ignore"))
        sentence = (
            f"{target} is learned from the other annotations too ({', '.join(others)}); a text "
            "that nobody annotated has none of them."
        )
        yield Finding(sentence, proposal=offer)
