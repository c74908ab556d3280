"""The Strategy: what the registry says of one way of tuning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from core.options import Option


@dataclass(frozen=True)
class Strategy:
    """One way of tuning, as the pages, the command line and the tests find it.

    Attributes:
        name: on the command line.
        title: in the window ("Gaussian process, hybrid exploration").
        kind: "trials" proposes settings for any model; "penalties" learns L2 penalties on a loss.
        does: what it does, one or two plain sentences.
        costs: what it costs, one plain sentence.
        shows: what can be watched, one plain sentence.
        options: what can be set, with the papers' defaults.
        make: for trials, (space, options, seed, memory) -> an Optuna sampler; for penalties,
            (problem, options, seed) -> iterator of core.penalties.step.Step.
        default_trials: the budget when none is given.
        source: the paper it comes from.
        remembers: whether what is known of earlier datasets decides its trials.
        averages: whether the best models are averaged at the end instead of taking the best.
        tasks: which tasks it can do; empty for all.
    """

    name: str
    title: str
    kind: Literal["trials", "penalties"]
    does: str
    costs: str
    shows: str
    options: tuple[Option, ...]
    make: Callable[..., Any]
    default_trials: int = 50
    source: str = ""
    remembers: bool = False
    averages: bool = False
    tasks: tuple[str, ...] = ()
