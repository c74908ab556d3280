"""Text about the data."""
