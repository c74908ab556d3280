"""Views of sequences and molecules."""
