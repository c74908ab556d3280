"""What the data page says of documents, whose topics are looked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QLocale

from core.datasets.texts.stop_words import AUTO, BY_FREQUENCY, LANGUAGES, NONE


def whole(number: int) -> str:
    """A whole number in the person's own way of writing."""
    return QLocale().toString(int(number))


def documents_headline(structured: Mapping[str, Any]) -> str:
    """The documents in one line."""
    if structured["column"]:
        return "{items} · {words} different words · the topics of “{column}”".format(
            items=structured["items"],
            words=whole(structured["vocabulary"]),
            column=structured["column"],
        )
    return "{items} · {words} different words · their topics".format(
        items=structured["items"], words=whole(structured["vocabulary"])
    )


def documents_question(structured: Mapping[str, Any]) -> str:
    """What the panel says is looked for."""
    if structured["column"]:
        return (
            "Every row is a text. Topics are looked for in “{column}”: words that come together. "
            "Nothing is predicted; you can pick a column to predict instead."
        ).format(column=structured["column"])
    return (
        "Every row is a text, every number says how often a word comes in it. Topics are looked "
        "for: words that come together. Nothing is predicted."
    )


def facts(structured: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Figures about the documents: (what, how many)."""
    low, high = structured["shortest"], structured["longest"]
    mean = QLocale().toString(float(structured["mean"]), "f", 0)
    spread = f"{mean} ({whole(low)} to {whole(high)})"
    told = [
        ("Texts", whole(structured["count"])),
        ("Words of a text that count", spread if low < high else mean),
        ("Different words that count", whole(structured["vocabulary"])),
        ("Texts without such a word", whole(structured["empty"])),
    ]
    if structured["test_count"]:
        told.append(("Texts of the second file", whole(structured["test_count"])))
    return told


def rules(structured: Mapping[str, Any]) -> str:
    """Which words count."""
    language, rare = structured["language"], "or in one only."
    size = f"The {whole(structured['size'])} most frequent"
    if not structured["column"]:
        return f"{size}; not those in nearly every text, {rare}"
    if language == BY_FREQUENCY:
        return f"{size} of three or more letters; not those in more than half of the texts, {rare}"
    stops = f"the stop words of {LANGUAGES[language]}, those" if language in LANGUAGES else "those"
    return f"{size} of three or more letters; not {stops} in nearly every text, {rare}"


def choices() -> list[tuple[str, str]]:
    """Whose stop words can be left out: (word of the plan, what the person reads)."""
    return [
        (AUTO, "Told from the texts"),
        *LANGUAGES.items(),
        (BY_FREQUENCY, "Words in over half of the texts"),
        (NONE, "None are left out"),
    ]
