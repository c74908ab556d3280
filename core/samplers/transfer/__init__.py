"""Samplers that learn from earlier datasets."""
