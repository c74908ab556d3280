"""Which learner of L2 penalties is recommended, and why.

| symbol | code | meaning |
| --- | --- | --- |
| n | ``parameters`` | penalized parameters |
| m | ``examples`` | training examples |
| K | ``classes`` | classes; 0 for a number to predict |

``tests/benchmarks/bench_recommended.py`` prints the comparison with grid search.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.penalties.row_space import LARGEST


@dataclass(frozen=True)
class Recommendation:
    """A strategy and the reason in one sentence."""

    strategy: str
    reason: str


def recommend_update(
    parameters: int, examples: int, classes: int, *, groups: int = 1, weights: str = ""
) -> Recommendation:
    """The learner to use for n parameters, m examples and K classes; no test data is used.

    `parameters`: penalized ones (columns, times classes if more than two); `classes`: 0 for a
    number to predict; `groups`: k; `weights`: n in words, where it is not known exactly.
    """
    size = f"{weights or f'{parameters:,} weights'} for {examples:,} training rows"
    size += f", in {groups:,} groups" if groups > 1 else ""
    noun = "each group's penalty" if groups > 1 else "the penalty"
    # The evidence is exact for a linear model with normal noise (MacKay 1992). Beside 5-fold grid
    # search (squared error as a share of the target's variance) it was at −.007 ± .003 and MM at
    # +.41 ± .20 over 57 runs on generated tables, by which this was chosen; at −.007 ± .004 and
    # +.15 ± .08 over 28 runs on four files, −.24 and −.19 (± .4) on pyrim, without a part in it.
    if classes == 0:
        return Recommendation(
            "evidence",
            f"{size}, and a number to predict: the evidence learns {noun} together with the "
            "noise, in about the time of one fit, and needs no validation rows.",
        )
    scores = classes if classes > 2 else 1
    # Of classes the Laplace evidence holds weights back too far on wide tables (its C was 3 to 6
    # times that of cross-validation; of thousands of genes it switches nearly all off, as MM does)
    # and on separable ones (mushrooms: log loss .012 where cross-validation has .001); leaving out
    # follows cross-validation. Rows that belong together each learner counts by itself.
    # The classes of one group share factors of their columns, or of the rows if fewer.
    is_shared = groups == 1 or classes == 2
    columns = parameters // scores if is_shared else parameters + scores
    if columns <= LARGEST or (is_shared and examples <= LARGEST):
        fits = "about the time of three fits" if is_shared else "the time of up to 25 fits"
        return Recommendation(
            "loo",
            f"{size}: leave-one-out finds {noun} with which every row is predicted best by the "
            f"model of the others, in {fits}.",
        )
    # Digits have a log loss of .454 so, where the evidence has .486.
    if groups == 1:
        return Recommendation(
            "loo",
            f"{size}: too many to leave each row out by itself. Five folds find {noun} with which "
            "rows are predicted best that were left out, in the time of twenty to thirty fits.",
        )
    return Recommendation(
        "evidence",
        f"{size}: the evidence counts only the weights that the data determine, in about the "
        "time of one fit.",
    )
