"""Sentences about the run that is shown: how far it is, what it does, and what it has learned."""
