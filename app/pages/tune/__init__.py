"""Step 4, tuning."""
