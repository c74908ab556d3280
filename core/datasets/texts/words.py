"""The words of a text, by Python's own library alone; exported folders of topics hold this source.

Three or more letters (Korean: two), lower case, no digit or underscore beside them. Without blanks
every two letters (Chinese, Japanese) or three (Thai, Lao, Khmer, Burmese) are words.
"""

from __future__ import annotations

import re
import unicodedata

# Without blanks between words: Han, Hiragana and Katakana; Thai, Lao, Khmer and Burmese.
_PAIRS = "\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
_PAIRS += "\U00020000-\U0003134f"
_THREES = "\u0e01-\u0e4e\u0e81-\u0ece\u1000-\u109f\u1780-\u17d3"
_BESIDE = rf"[^\W{_PAIRS}{_THREES}]"  # letters, digits and underscores of all other writings
WORD = re.compile(
    rf"(?P<pairs>[{_PAIRS}]+)|(?P<threes>[{_THREES}]+)"
    rf"|(?<!{_BESIDE})(?:[\uac00-\ud7a3]{{2,}}|[^\W\d_{_PAIRS}{_THREES}]{{3,}})(?!{_BESIDE})"
)
UNDIVIDED = re.compile(rf"[{_PAIRS}{_THREES}]")  # a letter of a writing without blanks


def normalized_text(text: str) -> str:
    """The text as its words are looked for: lower case, letters with their accents composed."""
    return unicodedata.normalize("NFC", text.lower())


def words_of(text: str) -> list[str]:
    """The words of a text, in their order."""
    if not UNDIVIDED.search(text):
        return [match.group() for match in WORD.finditer(normalized_text(text))]
    words: list[str] = []
    for match in WORD.finditer(normalized_text(text)):
        size = {"pairs": 2, "threes": 3}.get(match.lastgroup or "", 0)
        run = match.group()
        starts = range(max(1, len(run) - size + 1))
        words += [run[start : start + size] for start in starts] if size else [run]
    return words
