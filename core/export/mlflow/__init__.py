"""Models as MLflow has them: a folder, or a run on a tracking server."""
