"""What trials can tune: a scikit-learn estimator, its search space, and what it is good for."""
