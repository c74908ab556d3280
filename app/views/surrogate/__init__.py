"""Views of the surrogate."""
