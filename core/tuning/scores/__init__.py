"""Metrics, scores of settings, and confidence intervals."""
