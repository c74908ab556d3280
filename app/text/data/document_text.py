"""Text about documents and topics."""

from __future__ import annotations

from PySide6.QtCore import QLocale

from core.datasets.dataset_summary import DocumentSummary
from core.datasets.texts.stop_words import AUTO, BY_FREQUENCY, LANGUAGES, NONE


def format_integer(number: int) -> str:
    """A whole number in the locale."""
    return QLocale().toString(int(number))


def documents_headline(documents: DocumentSummary) -> str:
    """The documents in one line."""
    topics = f"the topics of “{documents.column}”" if documents.column else "their topics"
    return f"{documents.items} · {format_integer(documents.vocabulary)} different words · {topics}"


def documents_question(documents: DocumentSummary) -> str:
    """What is looked for in the documents."""
    if documents.column:
        return (
            f"Every row is a text. Topics are looked for in “{documents.column}”: words that come "
            "together. Nothing is predicted; you can pick a column to predict instead."
        )
    return (
        "Every row is a text, every number says how often a word comes in it. Topics are looked "
        "for: words that come together. Nothing is predicted."
    )


def document_facts(documents: DocumentSummary) -> list[tuple[str, str]]:
    """Figures about the documents."""
    low, high = documents.shortest, documents.longest
    mean = QLocale().toString(float(documents.mean), "f", 0)
    spread = f"{mean} ({format_integer(low)} to {format_integer(high)})"
    facts = [
        ("Texts", format_integer(documents.count)),
        ("Words of a text that count", spread if low < high else mean),
        ("Different words that count", format_integer(documents.vocabulary)),
        ("Texts without such a word", format_integer(documents.empty)),
    ]
    if documents.test_count:
        facts.append(("Texts of the second file", format_integer(documents.test_count)))
    return facts


def word_rules_text(documents: DocumentSummary) -> str:
    """Which words count."""
    language, rare = documents.language, "or in one only."
    size = f"The {format_integer(documents.size)} most frequent"
    if not documents.column:
        return f"{size}; not those in nearly every text, {rare}"
    if language == BY_FREQUENCY:
        return f"{size} of three or more letters; not those in more than half of the texts, {rare}"
    stops = f"the stop words of {LANGUAGES[language]}, those" if language in LANGUAGES else "those"
    return f"{size} of three or more letters; not {stops} in nearly every text, {rare}"


def stop_word_choices() -> list[tuple[str, str]]:
    """Choices of stop words: (word of the plan, title)."""
    return [
        (AUTO, "Detected from the texts"),
        *LANGUAGES.items(),
        (BY_FREQUENCY, "Words in over half of the texts"),
        (NONE, "None are left out"),
    ]
