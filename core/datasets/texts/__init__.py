"""Texts: words, vocabulary, documents as counts."""

MAX_TEXT_COLUMNS = 50_000  # of a column of texts, half of them for parts of words
