"""Views of the surrogate of this and earlier datasets."""
