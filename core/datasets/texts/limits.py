"""How many columns texts may become; apart, for those that must know it and nothing else."""

MAX_TEXT_COLUMNS = 50_000  # of a column of texts, half of them for parts of words
