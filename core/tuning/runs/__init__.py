"""Run folders, and the state that a run's events add up to."""
