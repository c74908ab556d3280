"""A plan as a command or a snippet of Python."""
