"""A CoNLL or FASTA file as it was given, with the label behind every token or the structures."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import IO

from core.datasets.files.conll import with_labels
from core.datasets.files.dot_brackets import dot_bracket_text
from core.datasets.files.file_bytes import decode_head
from core.datasets.files.line_table import LineFile
from core.export.own_table.answer_rows import Answers, answer_text, check_row_count
from core.export.own_table.read_table import ReadTable
from core.export.own_table.text_lines import line_end

LABEL, STRUCTURE = "prediction", "structure"


@dataclass(frozen=True)
class LineTable(ReadTable):
    """The table of a CoNLL or FASTA file."""

    file: LineFile

    def can_stay(self, answers: Answers) -> bool:
        """Whether the format has a place for the answers."""
        return (LABEL if self.file.kind == "conll" else STRUCTURE) in answers.columns

    def write_answered(self, into: IO[bytes], answers: Answers) -> list[str]:
        """A label behind every token, or a structure below every molecule; raises as for ARFF."""
        encoding = decode_head(self.file.head)[0]
        end = line_end(self.file.head, encoding)
        place = answers.columns.index(LABEL if self.file.kind == "conll" else STRUCTURE)
        words = [answer_text(row[place]) for row in answers.rows()]
        check_row_count(answers, len(self.raw_table.table), self.file.path.name)
        if self.file.kind == "conll":
            with self.file.open_lines() as stream:
                lines = re.split(r"\r\n|\r|\n", stream.read())
            text = end.join(with_labels(lines, words))
        else:
            table = self.raw_table.table.fillna("")
            names, letters = (table.iloc[:, column].tolist() for column in (0, 1))
            text = dot_bracket_text(names, letters, words).replace("\n", end)
        into.write(text.encode(encoding, "replace"))
        others = [name for position, name in enumerate(answers.columns) if position != place]
        if others:
            return [f"The format has no place for {', '.join(others)}; a name in .csv keeps them."]
        return []
