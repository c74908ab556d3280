"""Texts of the window."""
