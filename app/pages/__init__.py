"""One page a step; each knows only the part of the plan that it edits."""
