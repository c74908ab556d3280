"""Model files: joblib, skops, JSON, npz."""
