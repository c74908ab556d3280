"""CoNLL, CoNLL-U: a token a line, blank lines between sequences; exported scripts hold this source.

Sources: Tjong Kim Sang and De Meulder (2003), Introduction to the CoNLL-2003 shared task; Universal
Dependencies, CoNLL-U format, https://universaldependencies.org/format.html
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

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
_MIN_TOKENS, _MAX_TOKENS = 1.5, 300  # mean tokens a sequence
_MAX_ODD_SHARE = 1 / 8  # lines of another width than the others, which are refused one by one
_DELIMITED = re.compile(r"\w[,;|]")


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
        return tuple(self.names[1:]) == UNIVERSAL


def looks_like_conll(text: str, *, complete: bool) -> bool:
    """Whether lines are tokens: hardly another width, blank lines between; the last may be cut."""
    lines = text.splitlines() if complete else text.splitlines()[:-1]
    begins = [line.split(None, 1)[:1] for line in lines]
    # Most tables have no line between others, and none that begins with the number of a token.
    if all(begins) and not any(b == [_DOCUMENT] or _ID.fullmatch(b[0]) for b in begins):
        return False
    width, split_lines = _split_lines(lines)
    rows = [cells for cells in split_lines if cells is not None]
    filled = [cells for cells in rows if cells and not _is_mark(cells)]
    tokens = [cells for cells in filled if len(cells) == width]
    odd_count = len(filled) - len(tokens)
    if width < 2 or odd_count > _MAX_ODD_SHARE * len(filled) or not all(c[0] for c in filled):
        return False
    if any(c[0] == c[-1] == '"' and len(c) > 2 for cells in filled for c in cells if c):
        return False  # quoted cells of a CSV file, whose texts may hold blank lines
    if _is_universal(tokens[0]):
        return all(map(_is_universal, tokens))
    starts = [c for before, c in pairwise([[], *rows]) if not before or _is_mark(before)]
    n_sequences = sum(len(cells) == width and not _is_mark(cells) for cells in starts)
    if n_sequences < 2 or not _MIN_TOKENS <= len(tokens) / n_sequences <= _MAX_TOKENS:
        return False
    if odd_count and 2 * sum(any(map(_DELIMITED.search, c)) for c in tokens) > len(tokens):
        return False  # a table with a blank behind each comma
    return 2 * sum(_NUMBER.fullmatch(cells[-1]) is not None for cells in tokens) < len(tokens)


def conll_table(lines: Iterable[str], required: Collection[str] = ()) -> ConllTable:
    """The tokens, by `usual_names` without a header; LineError for another width, or no token.

    `required` columns decide whether the first line is a header and the last column called label.
    """
    table, rows, has_ended = ConllTable(), list[list[str]](), False
    sequence, number, (width, split_lines) = 1, 0, _split_lines(list(lines))
    for number, cells in enumerate(split_lines, 1):
        if not cells:
            has_ended = bool(rows) and (has_ended or cells is not None)
            continue
        if cells[0] == _DOCUMENT:
            table.documents += 1
            continue
        if len(cells) != width:
            columns = "1 column" if len(cells) == 1 else f"{len(cells)} columns"
            fault = f"the line has {columns}, and the others have {width}"
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
    names = ["token", *(f"column {i}" for i in range(2, width + 1))]
    return names if width < 2 or names[-1] in required else [*names[:-1], "label"]


def with_labels(lines: Iterable[str], labels: Sequence[str]) -> Iterator[str]:
    """The lines of a file without their ends, a label behind each token (CoNLL-U: in MISC)."""
    texts = [line.rstrip("\r\n") for line in lines]
    table = conll_table(texts)
    remaining = (" ".join(str(label).split()) or "_" for label in labels)
    tokens, first = set(table.lines), table.lines[0]
    for number, (cells, text) in enumerate(zip(_split_lines(texts)[1], texts, strict=True), 1):
        sign = "\t" if "\t" in text else " "
        label = f"prediction={next(remaining)}" if number in tokens else ""
        if table.is_universal and label:
            *before, misc = text.split("\t")
            yield "\t".join([*before, label if misc.strip() in ("", "_") else f"{misc}|{label}"])
        elif not cells or table.is_universal:
            yield text
        elif label:
            yield f"{text}{sign}{label.partition('=')[2]}"
        else:
            yield f"{text}{sign}{'prediction' if number < first and not _is_mark(cells) else '_'}"


def _split_lines(lines: Sequence[str]) -> tuple[int, list[list[str] | None]]:
    """The usual width, and the cells of every line: [] where it is blank, None for comments.

    A comment begins with # and has another width or, where a sequence begins, no token's label.
    """
    plain = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    rows: list[list[str] | None] = [
        [cell.strip() for cell in line.rstrip("\r\n").split("\t")]
        if "\t" in plain and line.strip()
        else line.split()
        for line in lines
    ]
    signs = [i for i, line in enumerate(lines) if line.startswith("#")]
    passed = {i: cells for i in signs if (cells := rows[i])}
    tokens = [c for i, c in enumerate(rows) if c and i not in passed and c[0] != _DOCUMENT]
    counts = Counter(map(len, tokens))
    width = max(counts, key=lambda count: counts[count], default=0)
    is_universal = any(map(_is_universal, tokens[:1000]))
    labels = {cells[-1] for cells in tokens} if passed else set()
    for i, cells in passed.items():
        before = rows[i - 1] if i else None
        is_start = not before or _is_mark(before)
        is_told = is_start and lines[i][1:2] == " " and cells[-1] not in labels
        if is_universal or len(cells) != width or is_told:
            rows[i] = None
    return width, rows


def _is_mark(cells: Sequence[str]) -> bool:
    return cells[:1] == [_DOCUMENT]


def _is_universal(cells: Sequence[str]) -> bool:
    fits = len(cells) == len(UNIVERSAL) and _ID.fullmatch(cells[0]) is not None
    return fits and _TAG.fullmatch(cells[3]) is not None and _HEAD.fullmatch(cells[6]) is not None


def _is_header(cells: Sequence[str], required: Collection[str]) -> bool:
    known = sum(cell.lower() in _HEADERS for cell in cells)
    wanted = [name for name in required if name != SENTENCE]
    return known > 1 or (bool(wanted) and all(name in cells for name in wanted))
