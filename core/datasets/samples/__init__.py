"""The sample datasets."""
