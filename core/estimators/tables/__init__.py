"""Models of table rows."""
