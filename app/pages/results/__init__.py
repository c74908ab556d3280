"""Step 5, the results."""
