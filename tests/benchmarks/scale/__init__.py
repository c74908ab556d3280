"""How time and memory grow with rows, columns, groups, trials, datasets and molecules."""
