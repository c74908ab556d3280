"""Settings drawn by their weights in an empirical Bayes average."""

try:  # a package of the registry has the code beside it
    from .core.samplers.bayes import EbHypSampler
    from .core.samplers.gp_options import EbHypOptions
except ModuleNotFoundError:  # in the checkout it is where it always is
    from tunescope.samplers import EbHypOptions, EbHypSampler

__all__ = ["EbHypOptions", "EbHypSampler"]
