"""Gaussian process that explores where it may pay."""

try:  # a package of the registry has the code beside it
    from .core.samplers.bayes import VariableSampler
    from .core.samplers.gp_options import VariableOptions
except ModuleNotFoundError:  # in the checkout it is where it always is
    from tunescope.samplers import VariableOptions, VariableSampler

__all__ = ["VariableOptions", "VariableSampler"]
