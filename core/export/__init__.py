"""What is exported: model files, parameters, a Python script and a report."""
