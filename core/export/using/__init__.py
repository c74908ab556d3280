"""A model used on new rows: one that is asked about, those of a file, those of the test set."""
