"""The registry of reproductions."""

from __future__ import annotations

from core.errors import UnusableError
from core.reproduction.brofos import credit_rows, sinc_rows
from core.reproduction.foo import table1_rows, table2_rows, table3a_rows
from core.reproduction.table import Reproduction

FOO_CLOSING = (
    "Ours: mean over seeds of other random splits than the paper's (except where a file has its "
    "own test part);\nfits count penalized problems solved, Newton steps for mm and evidence."
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
