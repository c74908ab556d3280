"""The worker: a process in which core runs, and the thread that talks to it."""
