"""The glossary of the window: terms of the field, and what each score measures."""

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from app.help.page_html import without_markup

FOLDER = Path(__file__).parents[2] / "resources" / "help"
_ONLY_A_LINK = re.compile(r" \[[^\]]+\]\([^)]*\)\.$")  # a sentence that is only a link


@dataclass(frozen=True)
class GlossaryEntry:
    """One term or score."""

    key: str  # the anchor in the help
    title: str
    words: str  # Markdown with links
    forms: tuple[str, ...]  # spellings in the window, in lower case

    @property
    def plain_words(self) -> str:
        return without_markup(_ONLY_A_LINK.sub("", self.words))


@cache
def entries() -> tuple[GlossaryEntry, ...]:
    """Every entry, by title, with the scores."""
    terms = (_term_entry(**fields) for fields in read_help("glossary.json"))
    return tuple(sorted((*terms, *score_entries()), key=lambda entry: entry.title.lower()))


@cache
def score_entries() -> tuple[GlossaryEntry, ...]:
    """The entries of the scores."""
    # Their titles are told here again: the registry of metrics needs scipy, which comes late.
    return tuple(_score_entry(**fields) for fields in read_help("scores.json"))


@cache
def read_help(name: str) -> Any:
    """A file of JSON beside the written pages."""
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def _term_entry(title: str, words: str, forms: list[str]) -> GlossaryEntry:
    # The synonym in brackets is no part of the anchor, which others link to.
    name = re.sub(r" \(.*\)$", "", title.lower())
    key = "word-" + re.sub(r"[^a-z0-9]+", "-", name).strip("-")
    return GlossaryEntry(key, title, words, tuple(forms))


def _score_entry(
    name: str, title: str, words: str, forms: list[str], lower_is_better: bool
) -> GlossaryEntry:
    direction = "Lower" if lower_is_better else "Higher"
    return GlossaryEntry(f"score-{name}", title, f"{words} {direction} is better.", tuple(forms))


@cache
def _pattern() -> tuple[re.Pattern[str], dict[str, GlossaryEntry]]:
    of_form: dict[str, GlossaryEntry] = {}
    for entry in entries():
        for form in entry.forms:
            # A test holds that no form belongs to two entries.
            of_form.setdefault(form, entry)
    # Of alternatives a pattern takes the first that fits, not the longest.
    longest_first = sorted(of_form, key=len, reverse=True)
    alternatives = "|".join(map(re.escape, longest_first))
    return re.compile(rf"(?<![\w-])(?:{alternatives})(?![\w-])", re.IGNORECASE), of_form


def terms_in(text: str) -> list[GlossaryEntry]:
    """Entries of the terms in a text; of overlapping terms the longest."""
    of_form = _pattern()[1]
    return list(dict.fromkeys(of_form[text[a:b].lower()] for a, b in spans_in(text)))


def spans_in(text: str) -> list[tuple[int, int]]:
    """Where the terms in a text begin and end."""
    return [match.span() for match in _pattern()[0].finditer(text)]
