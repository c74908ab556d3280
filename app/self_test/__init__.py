"""The program tries itself: whether this installation can do what it is for."""
