"""The past runs: a list, side by side, and the bin."""
