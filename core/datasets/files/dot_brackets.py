"""FASTA with structures in dots and brackets, and what RNAfold prints; exported scripts hold this.

A record: ">name" (may be missing), letters, structure, perhaps an energy; others are skipped.
Source: Lorenz et al. (2011), ViennaRNA Package 2.0, Algorithms for Molecular Biology 6, 26,
https://www.tbi.univie.ac.at/RNA/documentation.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from core.datasets.files.conll import LineError

LETTERS_COLUMN = "sequence"
MOLECULE_COLUMNS = ("name", LETTERS_COLUMN, "structure")
_LETTERS = re.compile(r"[A-Za-z~&-]+\*?")
_BASES = re.compile(r"[ACGUTNacgutn]+")
_STRUCTURE = re.compile(r"([().\[\]{}<>,|:_~&A-Za-z-]+)(?:\s*[(\[{<]?\s*[-+]?\d.*)?")
_SIGNS = re.compile(r"[().\[\]{}<>]")
_ENSEMBLE = re.compile(r"\s*frequency of mfe structure", re.IGNORECASE)


@dataclass
class DotBracketTable:
    """The molecules of a file."""

    names: list[str] = field(default_factory=list)
    letters: list[str] = field(default_factory=list)
    structures: list[str] = field(default_factory=list)  # "" where there is none
    lines: list[int] = field(default_factory=list)  # where each begins, from 1

    @property
    def columns(self) -> dict[str, list[str]]:
        """{name, sequence or structure: a text for every molecule}."""
        return dict(zip(MOLECULE_COLUMNS, (self.names, self.letters, self.structures), strict=True))

    def begin(self, name: str, number: int) -> None:
        self.names.append(name or f"molecule {len(self.names) + 1}")
        self.letters.append("")
        self.structures.append("")
        self.lines.append(number)


def looks_like_dot_brackets(text: str) -> bool:
    """Whether a text begins as FASTA, or with letters of bases above brackets."""
    lines = [line.strip() for line in text.splitlines()[:100] if _has_content(line)]
    if len(lines) < 2:
        return False
    if lines[0].startswith(">"):
        is_letters = _LETTERS.fullmatch(re.sub(r"\s", "", lines[1])) is not None
        return is_letters or bool(_structure_of(lines[1]))
    structure = _structure_of(lines[1])
    return _BASES.fullmatch(lines[0]) is not None and len(structure) == len(lines[0])


def dot_bracket_table(lines: Iterable[str]) -> DotBracketTable:
    """The molecules of a file's lines; LineError for another line, or no molecule."""
    table, number, is_named = DotBracketTable(), 0, False
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not _has_content(text):
            if match := re.match(r"#\s*Name:\s*(.+)", text, re.IGNORECASE):
                table.begin(match[1], number)
                is_named = True
            continue
        if text.startswith(">"):
            table.begin(text[1:].strip(), number)
            is_named = True
        elif structure := _structure_of(text):
            if not table.names or not table.letters[-1]:
                fault = "a structure stands before its letters"
                raise LineError(number, fault, "write the letters above it")
            # A long one may have several lines; behind a complete one stand those of the ensemble.
            if len(table.structures[-1]) < len(table.letters[-1]):
                table.structures[-1] += structure
        elif _LETTERS.fullmatch(bare := re.sub(r"\s", "", text)):
            if not table.names or (table.structures[-1] and not is_named):
                table.begin("", number)
            elif table.structures[-1]:
                fault = "letters follow a structure"
                raise LineError(number, fault, "begin a molecule with “>name”")
            table.letters[-1] += bare.rstrip("*")
        elif not _ENSEMBLE.match(text):
            fault = f"“{text[:40]}” is neither letters of bases nor a structure"
            raise LineError(number, fault, "write >name, the letters, and the structure")
    if not table.names:
        raise LineError(number + 1, "there is no molecule", "add some")
    return table


def dot_bracket_text(
    names: Sequence[str], letters: Sequence[str], structures: Sequence[str]
) -> str:
    """Molecules as FASTA with a structure below the letters of each."""
    records = zip((" ".join(str(name).split()) for name in names), letters, structures, strict=True)
    return "".join(f">{name}\n{bases}\n{structure}\n" for name, bases, structure in records)


def _structure_of(text: str) -> str:
    match = _STRUCTURE.fullmatch(text)
    return match[1] if match and _SIGNS.search(match[1]) else ""


def _has_content(line: str) -> bool:
    return bool(line.strip()) and not line.startswith(("#", ";"))
