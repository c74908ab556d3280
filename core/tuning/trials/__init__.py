"""Runs of trials, in processes of their own."""
