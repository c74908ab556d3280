"""Which update of the penalties is recommended, mm or evidence, and why.

| symbol | code | meaning |
| --- | --- | --- |
| n | ``parameters`` | penalized parameters |
| m | ``examples`` | training examples |
| γ | ``effective`` | the effective number of parameters, where it is known |

With the penalties integrated out every parameter counts as free. That hardly matters where the
examples are many times the parameters (γ is near n, or the penalty does little); in wide models
n/2 overstates what the data settle, and the weights are shrunk too far.
"""

from __future__ import annotations

from dataclasses import dataclass

# With more examples than this for every parameter the two updates predict alike.
_PLENTY = 20
# A share of settled parameters from which n says as much as γ.
_MOSTLY_SETTLED = 0.8


@dataclass(frozen=True)
class Recommendation:
    """A strategy and the reason in one sentence."""

    strategy: str
    reason: str


def recommend_update(
    parameters: int, examples: int, effective: float | None = None
) -> Recommendation:
    """The update to use, from the size of the problem alone; no test data is looked at.

    Args:
        parameters: n, penalized parameters (columns, times classes if more than two).
        examples: m, training rows.
        effective: γ, if a learner has reported it.
    """
    if parameters * _PLENTY <= examples:
        reason = (
            f"{examples} rows for {parameters} weights are plenty: the fast update that needs no"
            " curvature gives the same predictions."
        )
        return Recommendation("mm", reason)
    if effective is not None and effective >= _MOSTLY_SETTLED * parameters:
        reason = (
            f"The data settle {effective:.0f} of {parameters} weights, nearly all of them: the"
            " fast update, which counts every weight, is right here."
        )
        return Recommendation("mm", reason)
    if effective is not None:
        reason = (
            f"The data settle only {effective:.0f} of {parameters} weights: counting every weight"
            " would shrink the model too far."
        )
        return Recommendation("evidence", reason)
    reason = (
        f"{parameters} weights are many for {examples} rows: the evidence counts only the weights"
        " that the data can settle, and does not shrink the model too far."
    )
    return Recommendation("evidence", reason)
