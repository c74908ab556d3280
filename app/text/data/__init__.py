"""Sentences about the data: its columns, documents and groups, and what was changed."""
