"""Yogatama & Mann 2014."""
