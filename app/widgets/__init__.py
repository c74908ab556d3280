"""The controls that the pages are made of."""
