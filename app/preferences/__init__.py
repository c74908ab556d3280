"""What the window stores between starts."""
