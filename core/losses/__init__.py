"""−log p(data | w) of the models that penalty learners tune, with exact derivatives."""

from core.losses.registry import LOSSES, build, parameter_groups

__all__ = ["LOSSES", "build", "parameter_groups"]
