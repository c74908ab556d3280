"""Stop words of three or more letters (English: scikit-learn's), and a language's detection."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from core.errors import UnusableError

AUTO, BY_FREQUENCY, NONE = "auto", "frequency", "none"
LANGUAGES = {
    **{"en": "English", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian"},
    **{"pt": "Portuguese", "nl": "Dutch", "sv": "Swedish", "da": "Danish", "pl": "Polish"},
    "ru": "Russian",
}
CHOICES = (AUTO, *LANGUAGES, BY_FREQUENCY, NONE)
MAX_WORDS = 100_000  # of a vocabulary
_FEWEST = 0.05  # minimal share of stop words in a detected language


@cache
def stop_words(language: str) -> frozenset[str]:
    """The stop words of a language; empty where it is none of LANGUAGES."""
    if language == "en":
        # Only here: other languages and --help do without this import.
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    if language not in LANGUAGES:
        return frozenset()
    words = files("resources") / "stop_words" / f"{language}.txt"
    return frozenset(words.read_text(encoding="utf-8").split())


def check_choice(choice: str) -> str:
    """The choice by its short name; raises UnusableError if it is no language."""
    named = {name.lower(): code for code, name in LANGUAGES.items()}
    code = named.get(choice.strip().lower(), choice.strip().lower())
    if code not in CHOICES:
        fault = f"there are no stop words for “{choice}”"
        raise UnusableError(fault, where="option stop_words", cure=f"use {', '.join(CHOICES)}")
    return code


def guess_language(counts: Mapping[str, float]) -> str:
    """The language with the largest share of stop words among lower-case words, if any."""
    total = sum(counts.values())
    shares = {
        language: sum(counts.get(word, 0) for word in stop_words(language)) / (total or 1)
        for language in LANGUAGES
    }
    best = max(shares, key=lambda language: shares[language])
    return best if shares[best] >= _FEWEST else BY_FREQUENCY
