"""A table becomes a Dataset: roles, kinds, target and task."""
