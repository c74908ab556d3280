"""Live views of a run: every plot and table of the Tune and Results pages."""
