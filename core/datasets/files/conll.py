"""CoNLL, CoNLL-U: a token a line, blank lines between sequences; exported scripts hold this source.

Sources: Tjong Kim Sang and De Meulder (2003), Introduction to the CoNLL-2003 shared task; Universal
Dependencies, CoNLL-U format, https://universaldependencies.org/format.html
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

SENTENCE = "sentence"  # the column that numbers the sequences
UNIVERSAL = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
_ID = re.compile(r"\d+(?:[-.]\d+)?")
_TAG, _HEAD = re.compile(r"[A-Z]+|_|"), re.compile(r"\d+|_|")  # UPOS, HEAD
_NUMBER = re.compile(r"[-+]?[\d.,]+(?:[eE][-+]?\d+)?")
_HEADERS = {
    *("token", "word", "form", "lemma", "pos", "tag", "upos", "xpos", "chunk", "ner", "label"),
    *("entity", "iob", "bio", "deprel", "feats"),
}
_DOCUMENT = "-DOCSTART-"
_NOTHING = ("", "_")
_MIN_TOKENS, _MAX_TOKENS = 1.5, 300  # mean tokens a sequence


class LineError(ValueError):
    """A line that belongs to no token or molecule."""

    def __init__(self, line: int, fault: str, cure: str) -> None:
        super().__init__(f"line {line}: {fault}; {cure}")
        self.line, self.fault, self.cure = line, fault, cure


@dataclass
class ConllTable:
    """The tokens of a file."""

    names: list[str] = field(default_factory=list)  # the sequence's number first
    columns: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)  # of every token, from 1
    compounds: int = 0  # CoNLL-U's multiword tokens and empty nodes, passed over
    documents: int = 0  # marks of a document's start, passed over

    @property
    def is_universal(self) -> bool:
        """Whether it is CoNLL-U."""
        return tuple(self.names[1:]) == UNIVERSAL


def looks_like_conll(text: str, *, complete: bool) -> bool:
    """Whether lines are tokens: equal widths, blank lines between; the last may be cut."""
    lines = text.splitlines() if complete else text.splitlines()[:-1]
    rows = [c for _, c in _split_lines(lines) if c is not None and c[:1] != [_DOCUMENT]]
    tokens = [cells for cells in rows if cells]
    width = len(tokens[0]) if tokens else 0
    if width < 2 or any(len(cells) != width or not cells[0] for cells in tokens):
        return False
    if any(
        cell[0] == cell[-1] == '"' and len(cell) > 2 for cells in tokens for cell in cells if cell
    ):
        return False  # quoted cells of a CSV file, whose texts may hold blank lines
    if _is_universal(tokens[0]):
        return all(_is_universal(cells) for cells in tokens)
    n_sequences = sum(bool(cells) and (i == 0 or not rows[i - 1]) for i, cells in enumerate(rows))
    if n_sequences < 2 or not _MIN_TOKENS <= len(tokens) / n_sequences <= _MAX_TOKENS:
        return False
    return 2 * sum(_NUMBER.fullmatch(cells[-1]) is not None for cells in tokens) < len(tokens)


def conll_table(lines: Iterable[str], required: Collection[str] = ()) -> ConllTable:
    """The tokens; columns without a header are called token, column 2, … and label.

    `required` columns decide whether the first line is a header and the last column called label.
    Raises LineError for a line of another width, or no token.
    """
    table, rows, has_ended = ConllTable(), list[list[str]](), False
    width, sequence, number = 0, 1, 0
    for number, cells in _split_lines(list(lines)):
        if not cells:
            has_ended = bool(rows) and (has_ended or cells is not None)
            continue
        if cells[0] == _DOCUMENT:
            table.documents += 1
            continue
        width = width or len(cells)
        if len(cells) != width:
            fault = f"the line has {len(cells)} columns, and the others have {width}"
            raise LineError(number, fault, "give every token as many columns")
        if not rows and not table.names and _is_header(cells, required):
            table.names = [SENTENCE, *cells]
        elif _is_universal(cells) and not cells[0].isdigit():
            table.compounds += 1
        else:
            sequence += has_ended
            has_ended = False
            rows.append([str(sequence), *cells])
            table.lines.append(number)
    if not rows:
        raise LineError(number + 1, "there is no token", "add lines")
    table.columns = [list(column) for column in zip(*rows, strict=True)]
    if not table.names:
        is_universal = _is_universal(rows[0][1:])
        table.names = [SENTENCE, *(UNIVERSAL if is_universal else usual_names(width, required))]
    return table


def usual_names(width: int, required: Collection[str] = ()) -> list[str]:
    """The names of columns without a header."""
    names = ["token", *(f"column {i + 1}" for i in range(1, width))]
    is_labelled = width > 1 and names[-1] not in required
    return [*names[:-1], "label"] if is_labelled else names


def with_labels(lines: Iterable[str], labels: Sequence[str]) -> Iterator[str]:
    """The lines of a file without their ends, a label behind each token (CoNLL-U: in MISC)."""
    texts = [line.rstrip("\r\n") for line in lines]
    table, remaining = conll_table(texts), iter(labels)
    tokens, first = set(table.lines), table.lines[0]
    for (number, cells), text in zip(_split_lines(texts), texts, strict=True):
        sign = "\t" if "\t" in text else " "
        label = f"prediction={_one_cell(next(remaining))}" if number in tokens else ""
        if table.is_universal and label:
            *before, misc = text.split("\t")
            yield "\t".join([*before, label if misc.strip() in _NOTHING else f"{misc}|{label}"])
        elif not cells or table.is_universal:
            yield text
        elif label:
            yield f"{text}{sign}{label.partition('=')[2]}"
        else:
            yield f"{text}{sign}{'prediction' if number < first and cells[0] != _DOCUMENT else '_'}"


def _split_lines(lines: Sequence[str]) -> Iterator[tuple[int, list[str] | None]]:
    """The number of every line, from 1, and its cells: [] where it is blank, None for comments."""
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    has_tabs = "\t" in first
    usual = _cells(first, has_tabs)
    width = 0 if _is_universal(usual) else len(usual)
    for number, line in enumerate(lines, 1):
        cells = _cells(line, has_tabs) if line.strip() else []
        yield number, None if line.startswith("#") and len(cells) != width else cells


def _cells(line: str, has_tabs: bool) -> list[str]:
    if has_tabs:
        return [cell.strip() for cell in line.rstrip("\r\n").split("\t")]
    return line.split()


def _one_cell(cell: str) -> str:
    return re.sub(r"\s+", " ", str(cell)).strip() or "_"


def _is_universal(cells: Sequence[str]) -> bool:
    fits = len(cells) == len(UNIVERSAL) and _ID.fullmatch(cells[0]) is not None
    return fits and _TAG.fullmatch(cells[3]) is not None and _HEAD.fullmatch(cells[6]) is not None


def _is_header(cells: Sequence[str], required: Collection[str]) -> bool:
    known = sum(cell.lower() in _HEADERS for cell in cells)
    wanted = [name for name in required if name != SENTENCE]
    return known > 1 or (bool(wanted) and all(name in cells for name in wanted))
