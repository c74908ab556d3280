"""Text about earlier runs and datasets."""
