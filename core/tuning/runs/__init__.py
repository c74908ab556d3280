"""Run folders, and what the stream of events says of a run."""
