"""Statistics of comparing models on test data: pure functions on arrays."""
