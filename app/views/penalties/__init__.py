"""Views of penalty learning: trajectories, group penalties, the objective."""
