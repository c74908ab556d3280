"""Text about a run's results."""
