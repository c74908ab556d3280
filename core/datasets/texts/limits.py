"""How many columns texts may become; imports nothing."""

MAX_TEXT_COLUMNS = 50_000  # of a column of texts, half of them for parts of words
