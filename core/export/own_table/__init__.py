"""The person's own table comes back: as it was given, with a model's answers behind it."""
