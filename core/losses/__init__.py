"""−log p(data | w) of the models that penalty learners tune, with exact derivatives."""

from core.losses.registry import LOSSES, build_loss, parameter_groups

__all__ = ["LOSSES", "build_loss", "parameter_groups"]
