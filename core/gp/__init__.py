"""Gaussian processes: kernels, regression and acquisition."""
