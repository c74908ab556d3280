"""A file becomes a Dataset: reading, column roles, task, encoding, splits and groups."""
