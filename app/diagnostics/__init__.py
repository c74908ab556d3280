"""Diagnostics: crash reports, signals, displays, and Qt versions known to fail."""
