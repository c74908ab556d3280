"""The session: what the window knows, what a person may do, and what was asked of the worker."""
