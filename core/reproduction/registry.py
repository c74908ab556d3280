"""The registry of reproductions."""

from __future__ import annotations

from core.errors import UnusableError
from core.reproduction.brofos import credit_rows, sinc_rows
from core.reproduction.do_simulation import figure2_rows
from core.reproduction.foo import table1_rows, table2_rows, table3a_rows
from core.reproduction.rna_folds import figure3_rows, table3b_rows, table4_rows
from core.reproduction.table import Reproduction

FOO_CLOSING = (
    "Ours: mean over seeds of other random splits than the paper's (except where a file has its "
    "own test part);\nfits count penalized problems solved, Newton steps for mm and evidence."
)

RNA_CLOSING = (
    "Two folds: learned on one, tested on the other; log losses summed, pairs counted together. "
    "The paper does not say\nhow the ends of the ROC curve are treated: ours is the area under "
    "sensitivity over specificity as core.losses.rna.scores has it."
)

_ALL = (
    Reproduction(
        "foo-table1",
        "Foo 2009, table 1: linear regression, test MSE and the penalty found",
        True,
        table1_rows,
        FOO_CLOSING,
    ),
    Reproduction(
        "foo-table2",
        "Foo 2009, table 2: logistic regression, test accuracy in %",
        True,
        table2_rows,
        FOO_CLOSING,
        {"dataset": 14},
    ),
    Reproduction(
        "foo-table3a",
        "Foo 2009, table 3a: multinomial logistic regression, test accuracy in %",
        True,
        table3a_rows,
        FOO_CLOSING,
        {"dataset": 14},
    ),
    Reproduction(
        "foo-table3b",
        "Foo 2009, table 3b: RNA folding, the penalty of every motif type, learned by MM",
        True,
        table3b_rows,
        f"{RNA_CLOSING}\n(limit): at the largest penalty that MM can give, (n/2 + α)/β.",
        {"": 37, "fold A": 15, "fold B": 15},
        kept=True,
    ),
    Reproduction(
        "foo-table4",
        "Foo 2009, table 4: RNA folding, ROC area and test log loss",
        True,
        table4_rows,
        RNA_CLOSING,
        {"": 8},
        kept=True,
    ),
    Reproduction(
        "do-figure2",
        "Do 2008, figure 2: label error in % on simulated sequences",
        False,
        figure2_rows,
        "Grouped: transitions, relevant and noise features. Lead: by how much grouped is below the "
        "next best, in points;\n±: standard error of grouped. Refit: the same penalties, fitted "
        "on training and holdout sequences, which mm\nlearns from as well. The paper names no M "
        "and R for its lead.",
        kept=True,
    ),
    Reproduction(
        "do-figure3",
        "Do 2008, figure 3: RNA folding by the implicit gradient",
        True,
        figure3_rows,
        f"{RNA_CLOSING}\n(limit): at the end of the allowed range, exp(−10) or exp(12).",
        {"": 37, "fold A": 15, "fold B": 15},
        kept=True,
    ),
    Reproduction(
        "brofos-sinc",
        "Brofos 2013, figure 1: sin(x)/(πx) on [−20, 20] from three points on one side lobe",
        False,
        sinc_rows,
        "Found: a value within 5 % of the global maximum, in 20 evaluations after the three.",
        {"anticipation": 20, "method": 20, "the paper": 26},
    ),
    Reproduction(
        "brofos-credit",
        "Brofos 2013, table 2: a random forest on Australian credit, 1 to 150 trees",
        True,
        credit_rows,
        "The paper's 16 columns with missing values are UCI's Credit Approval file; here it is "
        "the Statlog file of 14.\nConvergence: evaluations until the choice of trees stays "
        "the same to the end of 20.",
        {"statistic": 27},
    ),
)

REPRODUCTIONS: dict[str, Reproduction] = {each.name: each for each in _ALL}


def reproduction(name: str) -> Reproduction:
    """One reproduction by its name.

    Raises:
        UnusableError: there is none of that name.
    """
    if name not in REPRODUCTIONS:
        raise UnusableError(
            f"there is no reproduction “{name}”", cure=f"choose one of {', '.join(REPRODUCTIONS)}"
        )
    return REPRODUCTIONS[name]
