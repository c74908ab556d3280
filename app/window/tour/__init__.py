"""The tour: a card beside the real controls of the window, one after the other."""
