"""What every view is made of."""
