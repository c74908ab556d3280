"""Views of the surrogate: its mean and uncertainty along one setting, and over two."""
