"""Minimization: the loss at a point, Newton steps, L-BFGS, conjugate gradients."""
