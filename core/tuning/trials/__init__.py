"""Runs of trials, in separate processes."""
