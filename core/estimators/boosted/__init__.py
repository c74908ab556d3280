"""Fitted boosted trees of other libraries, in scikit-learn's classes."""
