"""One page a step: each knows the part of the plan that it edits, and nothing of the others."""
