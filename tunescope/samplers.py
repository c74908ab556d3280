"""The samplers, for Optuna studies with one objective.

Parameters may be conditional: a sampler proposes those that all finished trials have in common, and
draws the others uniformly. Where every setting of a finite space was tried, it proposes one again,
and its attribute `exhausted` is true.
"""

from core.samplers.bayes import EbHypSampler, GpSampler, HybridSampler, VariableSampler
from core.samplers.gp_options import EbHypOptions, GpOptions, HybridOptions, VariableOptions
from core.samplers.grid import GridSampler
from core.samplers.transfer.history import EarlierDataset, TuningHistory
from core.samplers.transfer.joint_surrogate import TransferSampler
from core.samplers.transfer.scot import ScotSampler
from core.space import Axis

__all__ = [
    "Axis",
    "EarlierDataset",
    "EbHypOptions",
    "EbHypSampler",
    "GpOptions",
    "GpSampler",
    "GridSampler",
    "HybridOptions",
    "HybridSampler",
    "ScotSampler",
    "TransferSampler",
    "TuningHistory",
    "VariableOptions",
    "VariableSampler",
]
