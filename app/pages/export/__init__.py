"""Step 6, export."""
