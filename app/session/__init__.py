"""The session: the state of the window, a person's actions, and requests to the worker."""
