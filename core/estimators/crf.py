"""Linear-chain conditional random fields, which label every token of a sequence."""

from __future__ import annotations

from typing import Any

from core.estimators.model import Model
from core.space import Axis, Setting


def _space(task: str) -> tuple[Axis, ...]:
    low, high = 2.0**-10, 2.0**10  # the grid of Foo 2009
    return (Axis("C", "Penalty on large weights", "float", low, high, True, default=1.0),)


def _build(task: str, setting: Setting, seed: int) -> Any:
    # numba takes a second to import, and the registry is read by the window.
    from core.estimators.crf_tagger import CrfTagger

    return CrfTagger(C=float(setting["C"]))


def _script(task: str, setting: Setting, seed: int) -> tuple[str, str]:
    return (
        "from core.estimators.crf_tagger import CrfTagger",
        f"CrfTagger(C={float(setting['C'])!r})",
    )


CRF = Model(
    name="crf",
    title="Conditional random field",
    good_for="Labels every token of a sequence, such as the words of a sentence, and uses that "
    "neighbouring labels depend on each other. Every weight can be read.",
    cost="Fits in seconds; more labels and more different words take longer.",
    tasks=("sequence",),
    space=_space,
    build=_build,
    loss={"sequence": "crf"},
    takes_sparse=False,
    scaled=False,
    script=_script,
)
