"""The model of a run, used on new rows."""
