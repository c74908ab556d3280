"""What went wrong, for those who mend it: crash reports, and versions known to fail."""
