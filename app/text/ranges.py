"""The ranges of a model's settings in words, and the numbers in them."""

from __future__ import annotations

from PySide6.QtCore import QLocale

from core.space import Axis
from core.tuning.plan import Plan
from core.tuning.ranges import said, told

LEARNED = (
    "The penalty is learned from the data, not searched: there is no range to set. Choose a "
    "strategy that tries settings to search ranges."
)
OF_SEVERAL = (
    "Every model is searched over its own usual ranges. To change ranges, choose one model in "
    "step 2."
)


def changed_in_words(plan: Plan) -> list[str]:
    """A sentence for each setting that is not searched over its usual range."""
    ranges = [
        f"{name} is searched from {written(ends[0])} to {written(ends[1])}, not over its usual "
        "range."
        for name, ends in plan.ranges.items()
        if len(ends) == 2  # what cannot be is said at its row
    ]
    return ranges + [f"{name} stays at {told(value)}." for name, value in plan.fixed.items()]


def waiting_in_words(count: int) -> str:
    """That settings entered in a pause are tried afterwards; "" where there are none."""
    what = "The setting that you entered is" if count == 1 else f"{count} settings of yours are"
    return f" {what} tried then." if count else ""


def scale_of(axis: Axis) -> str:
    """How a number is searched: by equal factors or by equal steps."""
    whole = ", whole numbers" if axis.kind == "int" else ""
    return f"{'log' if axis.log else 'even'}{whole}"


def written(number: float) -> str:
    """A number for a field, without anything lost, in the person's own way of writing."""
    text = said(number) if isinstance(number, int | float) else str(number)
    point = QLocale().decimalPoint()
    return text if "e" in text else text.replace(".", point)


def as_others_read(text: str) -> str:
    """A number in the person's own way of writing, with a point; other text as it is."""
    bare = text.strip()
    try:
        float(bare)
    except ValueError:
        number, fine = QLocale().toDouble(bare)
        return said(number) if fine else text
    return bare
