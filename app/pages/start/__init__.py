"""The first page: open a file, try a sample, continue a run."""
