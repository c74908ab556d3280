"""What a score can be, on what, and how sure it is."""
