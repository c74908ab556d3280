"""Runs of penalty learners."""
