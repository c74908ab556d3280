"""Sentences about the current run."""
