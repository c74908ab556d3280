"""Models of sequences and molecules."""
