"""Step 3, the strategy."""
