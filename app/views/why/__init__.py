"""Views of the Results page that answer what people ask after the score."""
