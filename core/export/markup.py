"""Strangers' texts in YAML and Markdown: short, on one line, and without a meaning there."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from core.wording import printable_text, shortened_text, with_short_names

# Also what begins an address, or one of GitHub's names and numbers.
_SIGNS = re.compile(r"[\\`*_\[\]<>|~&$#@]|(?<=:)/|(?<=www)\.", re.IGNORECASE)
MAX_LETTERS = 80  # of a name


def yaml_text(value: Any, indent: str = "") -> str:
    """Block YAML of dictionaries and lists; all else is JSON, which YAML reads."""
    is_list = isinstance(value, list)
    lines = []
    for key, inner in enumerate(value) if is_list else value.items():
        head = f"{indent}-" if is_list else f"{indent}{key}:"
        if isinstance(inner, (dict, list)) and inner:
            lines.append(f"{head}\n{yaml_text(inner, f'{indent}  ')}")
        else:
            lines.append(f"{head} {json.dumps(inner, ensure_ascii=False)}\n")
    return "".join(lines)


def plain_text(text: object, max_letters: int = MAX_LETTERS) -> str:
    """Any text on one line, as a printer has it; a long one by its ends."""
    return printable_text(shortened_text(text, max_letters))


def markdown_text(text: object, max_letters: int = MAX_LETTERS) -> str:
    """The same in Markdown."""
    return _SIGNS.sub(r"\\\g<0>", plain_text(text, max_letters))


def markdown_sentences(sentences: Iterable[str], mark: str = "") -> str:
    """Sentences that quote names: a paragraph, or a list whose items begin with the mark."""
    texts = (markdown_text(with_short_names(sentence), 2000) for sentence in sentences if sentence)
    return "\n".join(mark + text for text in texts) if mark else " ".join(texts)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table, its cells in Markdown."""
    lines = [f"| {' | '.join(map(markdown_text, cells))} |" for cells in (header, *rows)]
    return "\n".join([lines[0], "|---" * len(header) + "|", *lines[1:]])
