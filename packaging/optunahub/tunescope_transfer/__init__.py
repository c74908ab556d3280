"""Gaussian process that learns from earlier datasets."""

try:  # a package of the registry has the code beside it
    from .core.samplers.transfer.history import EarlierDataset, TuningHistory
    from .core.samplers.transfer.joint_surrogate import TransferSampler
except ModuleNotFoundError:  # in the checkout it is where it always is
    from tunescope.samplers import EarlierDataset, TransferSampler, TuningHistory

__all__ = ["EarlierDataset", "TransferSampler", "TuningHistory"]
