"""Runs of several models."""
