"""Sentences about earlier runs and the datasets that the history knows."""
