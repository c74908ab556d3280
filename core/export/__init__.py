"""What is taken away: model files, parameters, a Python script and a report."""
