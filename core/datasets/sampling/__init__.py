"""Files larger than memory: how many of their rows fit, rows drawn at random, and rows in parts."""
