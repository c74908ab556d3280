"""Programs that carry their model with them, and predict without this one."""
