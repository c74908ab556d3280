"""The history of earlier datasets."""
