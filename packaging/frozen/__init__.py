"""What the frozen program is made of, and what it does first when it starts."""
