"""The worker: a process of its own in which core runs, and the thread that speaks with it."""
