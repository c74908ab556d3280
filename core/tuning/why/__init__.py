"""Answers about the tested model of a finished run, from its test rows."""
