"""Gaussian process that improves or explores."""

try:  # a package of the registry has the code beside it
    from .core.samplers.bayes import HybridSampler
    from .core.samplers.gp_options import HybridOptions
except ModuleNotFoundError:  # in the checkout it is where it always is
    from tunescope.samplers import HybridOptions, HybridSampler

__all__ = ["HybridOptions", "HybridSampler"]
