"""Views of trials: best so far, parallel coordinates, the table."""
