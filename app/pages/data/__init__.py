"""Step 1, the data."""
