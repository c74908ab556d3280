"""Boosted trees of other libraries, fitted, in scikit-learn's own classes."""
