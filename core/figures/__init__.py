"""What pictures show, as plain data: the window and the report paint the same."""
