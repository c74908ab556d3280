"""The tuning of several models in one run."""
