"""An ARFF file as it was given: its lines, with attributes of answers behind.

https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

from core.datasets.files.file_bytes import decode_head
from core.datasets.files.line_table import ArffFile
from core.export.own_table.answer_rows import Answers, answer_text, check_row_count
from core.export.own_table.read_table import ReadTable
from core.export.own_table.text_lines import line_end, line_writer, text_lines

_WEIGHT = re.compile(rb"\s*,\s*\{[^{}]*\}\s*$")
_PLAIN = re.compile(r"[\w.+:/-]+")
_QUOTED = re.compile(rb"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\}""", re.DOTALL)


@dataclass(frozen=True)
class ArffTable(ReadTable):
    """The table of an ARFF file."""

    file: ArffFile

    def write_answered(self, into: IO[bytes], answers: Answers) -> list[str]:
        """Write the file with attributes of answers; UnusableError where rows are not as many."""
        encoding = decode_head(self.file.head)[0]
        codec = "utf-8" if encoding.startswith("utf-16") else encoding
        write = line_writer(into, encoding, self.file.head)
        end = line_end(self.file.head, encoding)
        quote = '"' if b'"' in self.file.head and b"'" not in self.file.head else "'"
        width, row_count, is_data = len(self.names), 0, False
        attributes = self._attributes(answers, quote)
        rows = answers.rows()
        with text_lines(self.file, encoding) as lines:
            for line in lines:
                word = line.strip().lower()
                if not is_data:
                    if is_data := word == b"@data" or word.startswith((b"@data ", b"@data\t")):
                        write("".join(text + end for text in attributes).encode(codec, "replace"))
                    write(line)
                elif not word or word.startswith(b"%"):
                    write(line)
                elif (row := next(rows, None)) is not None:
                    row_count += 1
                    texts = [_quoted(answer_text(cell), quote) for cell in row]
                    write(_behind(line, [text.encode(codec, "replace") for text in texts], width))
                else:
                    row_count += answers.is_whole
        check_row_count(answers, row_count, self.file.path.name)
        return []

    def _attributes(self, answers: Answers, quote: str) -> list[str]:
        names, table = answers.names_beside(self.names), answers.first
        return [
            f"@attribute {_quoted(name, quote)} "
            + ("numeric" if table[column].dtype.kind in "iuf" else "string")
            for name, column in zip(names, table, strict=True)
        ]


def _quoted(text: str, quote: str) -> str:
    if not text:
        return "?"
    if _PLAIN.fullmatch(text):
        return text
    text = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    return quote + re.sub(r"[\r\n]+", " ", text) + quote


def _behind(line: bytes, cells: Sequence[bytes], width: int) -> bytes:
    body = line.rstrip()
    end = line[len(body) :]
    if not body.lstrip().startswith(b"{"):
        weight = _WEIGHT.search(body)
        place = weight.start() if weight else len(body)
        return body[:place] + b"," + b",".join(cells) + body[place:] + end
    place = next((m.start() for m in _QUOTED.finditer(body) if m.group() == b"}"), len(body))
    pairs = b", ".join(b"%d %s" % (width + index, cell) for index, cell in enumerate(cells))
    comma = b", " if body[:place].strip() != b"{" else b""
    return body[:place].rstrip() + comma + pairs + body[place:] + end
