"""Views of the surrogate that earlier datasets share with this one."""
