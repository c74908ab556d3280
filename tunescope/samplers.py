"""The samplers, for Optuna studies with one objective.

Parameters may be conditional. The samplers of Brofos and McInerney propose all, and learn which
choice or whole number hides one; the others propose those that all finished trials have in common,
and draw the rest uniformly. With constraints (Optuna 5's `trial.set_constraint`) feasible trials
come first: the former model each, for the others an infeasible trial has failed. Where every
setting of a finite space was tried, a sampler proposes one again, and its attribute `exhausted` is
true.
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
