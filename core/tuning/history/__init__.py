"""The tuning history: what worked on earlier datasets."""
