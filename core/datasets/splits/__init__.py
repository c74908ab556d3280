"""Which rows train, validate and test, and which belong together."""
