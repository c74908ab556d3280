"""Trials on the workers of a dask.distributed scheduler: reaching it, what runs there, what it does."""
