"""Gaussian process with learned noise and warped scores."""

try:  # a package of the registry has the code beside it
    from .core.samplers.bayes import GpSampler
    from .core.samplers.gp_options import GpOptions
except ModuleNotFoundError:  # in the checkout it is where it always is
    from tunescope.samplers import GpOptions, GpSampler

__all__ = ["GpOptions", "GpSampler"]
