"""What computes: reading data, losses, penalties, Gaussian processes, tuning and export. No Qt."""

from core.old_names import understand_old_names

understand_old_names()
