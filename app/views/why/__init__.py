"""Views of the Results page that explain the model."""
