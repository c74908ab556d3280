"""Gaussian processes over several datasets."""
