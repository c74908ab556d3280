"""Averages of fitted models, as one model."""
