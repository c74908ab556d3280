"""Trials on the workers of a dask.distributed scheduler: how it is reached, what runs there."""
