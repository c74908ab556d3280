"""What is said of a finished run's results."""
