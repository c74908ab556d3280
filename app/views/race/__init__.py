"""Runs of several models: how they stand, and how each got there."""
