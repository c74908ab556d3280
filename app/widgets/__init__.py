"""Controls of the pages."""
