"""Fitted models in files: skops with a list of what may be inside, or signed by this computer."""
