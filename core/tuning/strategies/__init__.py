"""The ways of tuning: what each does in words, what it needs, and the registry of them."""
