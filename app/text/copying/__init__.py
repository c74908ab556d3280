"""A plan as text to take elsewhere: a command for the shell, a snippet of Python."""
