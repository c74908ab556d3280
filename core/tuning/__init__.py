"""A run from plan to result: plan, events, the tune generator, executors and the run folder."""
