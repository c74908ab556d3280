"""Which update of the penalties is recommended, mm or evidence, and why.

| symbol | code | meaning |
| --- | --- | --- |
| n | ``parameters`` | penalized parameters |
| m | ``examples`` | training examples |
| K | ``classes`` | classes; 0 for a number to predict |
| γ | ``effective`` | the effective number of parameters, where a learner has reported it |

With the penalties integrated out every parameter counts as free (Foo 2009); that hardly matters
with two classes and few parameters. In wide models, and with a set of weights for every class, n/2
overstates what the data settle and the weights are shrunk too far; the evidence counts γ instead
(MacKay 1992). For a linear model the evidence learns the noise as well, whatever the target's unit.
"""

from __future__ import annotations

from dataclasses import dataclass

# From so many parameters for every example a model is wide.
_WIDE = 0.4
# A share of settled parameters from which n says as much as γ.
_MOSTLY_SETTLED = 0.8


@dataclass(frozen=True)
class Recommendation:
    """A strategy and the reason in one sentence."""

    strategy: str
    reason: str


def recommend_update(
    parameters: int,
    examples: int,
    classes: int,
    *,
    groups: int = 1,
    effective: float | None = None,
) -> Recommendation:
    """The update to use, from the size of the problem alone; no test data is looked at.

    Args:
        parameters: n, penalized parameters (columns, times classes if more than two).
        examples: m, training rows.
        classes: K, 0 for a number to predict.
        groups: k, regularization groups.
        effective: γ, if a learner has reported it.
    """
    if effective is not None:
        return _from_effective(parameters, effective)
    given = f"{parameters:,} weights for {examples:,} training rows"
    given += f", in {groups:,} groups" if groups > 1 else ""
    if parameters > _WIDE * examples:
        return Recommendation(
            "evidence",
            f"{given}: the evidence counts only the weights that the data determines, so that so "
            "many are not held back too much.",
        )
    if classes > 2:
        return Recommendation(
            "evidence",
            f"{given}, a set of them for each of {classes} classes: the sets overlap, and the "
            "evidence counts only what the data determines.",
        )
    if classes == 0:
        return Recommendation(
            "evidence",
            f"{given}, and a number to predict: the evidence learns the penalty together with the "
            "noise, in about the time of one fit.",
        )
    each = "each group's penalty" if groups > 1 else "the penalty"
    return Recommendation(
        "mm",
        f"{given}: MM learns {each} in about the time of one fit, and needs no validation rows.",
    )


def _from_effective(parameters: int, effective: float) -> Recommendation:
    if effective >= _MOSTLY_SETTLED * parameters:
        return Recommendation(
            "mm",
            f"The data determines {effective:.0f} of {parameters:,} weights, nearly all of them: "
            "MM, which counts every weight, comes to the same.",
        )
    return Recommendation(
        "evidence",
        f"The data determines only {effective:.0f} of {parameters:,} weights: counting every one, "
        "as MM does, would hold the model back too far.",
    )
