"""Step 2, the model."""
