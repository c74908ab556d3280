"""What computes: reading data, losses, penalties, Gaussian processes, tuning and export. No Qt."""
