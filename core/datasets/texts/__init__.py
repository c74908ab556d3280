"""Texts: words, vocabulary, documents as counts."""
