"""Averages over the models of a run."""
