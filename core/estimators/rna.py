"""RNA secondary structure by a conditional log-linear model over base pairs and loops."""

from __future__ import annotations

from typing import Any

from core.estimators.model import Model
from core.space import Axis, Setting


def _space(task: str) -> tuple[Axis, ...]:
    low, high = 2.0**-10, 2.0**10  # the grid of Foo 2009
    return (Axis("C", "Penalty on large weights", "float", low, high, True, default=1.0),)


def _build(task: str, setting: Setting, seed: int) -> Any:
    # numba takes a second to import, and the registry is read by the window.
    from core.estimators.rna_folder import RnaFolder

    return RnaFolder(C=float(setting["C"]))


def _script(task: str, setting: Setting, seed: int) -> tuple[str, str]:
    return (
        "from core.estimators.rna_folder import RnaFolder",
        f"RnaFolder(C={float(setting['C'])!r})",
    )


RNA = Model(
    name="rna",
    title="RNA folding",
    good_for="Learns from molecules of known structure which bases pair, and folds new molecules. "
    "Its 708 weights belong to 15 kinds of motif that can be read.",
    cost="Seconds for short molecules, minutes for a hundred of some hundred bases.",
    tasks=("structure",),
    space=_space,
    build=_build,
    loss={"structure": "rna"},
    takes_sparse=False,
    scaled=False,
    script=_script,
)
