"""What the window keeps between starts."""
