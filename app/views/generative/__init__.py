"""Views of topics and of pictures."""
