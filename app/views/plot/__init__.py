"""What every view is made of: the View, canvas, axes, items, and the record they draw."""
