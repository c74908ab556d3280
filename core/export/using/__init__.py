"""A model used on new rows."""
