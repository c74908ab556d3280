"""The ranges of a model's settings in words, and the numbers in them."""

from __future__ import annotations

from PySide6.QtCore import QLocale

from core.space import Axis
from core.tuning.plan import Plan
from core.tuning.ranges import setting_value_text, shortest_number

LEARNED = (
    "The penalty is learned from the data, not searched: there is no range to set. Choose a "
    "strategy that tries settings to search ranges."
)
OF_SEVERAL = (
    "Every model is searched over its own usual ranges. To change ranges, choose one model in "
    "step 2."
)


def changed_ranges_text(plan: Plan) -> list[str]:
    """A sentence for each setting that is not searched over its usual range."""
    ranges = [
        f"{name} is searched from {editable_number(ends[0])} to {editable_number(ends[1])}, not "
        "over its usual range."
        for name, ends in plan.ranges.items()
        if len(ends) == 2  # what cannot be is said at its row
    ]
    return ranges + [
        f"{name} stays at {setting_value_text(value)}." for name, value in plan.fixed.items()
    ]


def waiting_settings_text(count: int) -> str:
    """That settings entered in a pause are tried afterwards; "" where there are none."""
    subject = "The setting that you entered is" if count == 1 else f"{count} settings of yours are"
    return f" {subject} tried then." if count else ""


def scale_of(axis: Axis) -> str:
    """How a number is searched: by equal factors or by equal steps."""
    integer_note = ", whole numbers" if axis.kind == "int" else ""
    return f"{'log' if axis.log else 'linear'}{integer_note}"


def editable_number(number: float) -> str:
    """A number for a field, without anything lost, in the person's own way of writing."""
    text = shortest_number(number) if isinstance(number, int | float) else str(number)
    point = QLocale().decimalPoint()
    return text if "e" in text else text.replace(".", point)


def with_decimal_point(text: str) -> str:
    """A number in the person's own way of writing, with a point; other text as it is."""
    bare = text.strip()
    try:
        float(bare)
    except ValueError:
        number, fine = QLocale().toDouble(bare)
        return shortest_number(number) if fine else text
    return bare
