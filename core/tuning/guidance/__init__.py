"""Which model and strategy to take, and how long it will take."""
