"""Files larger than memory: rows drawn at random, and rows in parts."""
