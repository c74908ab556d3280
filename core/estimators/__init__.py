"""Models: estimators with their search spaces and descriptions."""
