"""The vote of seven classifiers."""
