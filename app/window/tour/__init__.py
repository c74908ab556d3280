"""The tour: a card beside one control after the other."""
