"""The end of a run: its winner, the test, and the files that are written."""
