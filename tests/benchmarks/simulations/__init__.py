"""What the program's numbers promise, against simulated tables on which the truth is known."""
