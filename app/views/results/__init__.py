"""Views of the Results page."""
