"""The end of a run: who won, judged by what, and what is kept."""
