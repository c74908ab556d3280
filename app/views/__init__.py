"""Live views of a run."""
