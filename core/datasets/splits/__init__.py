"""Training, validation and test rows, and which rows belong together."""
