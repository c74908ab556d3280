"""Search ranges as text."""

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
    """A sentence for each changed range."""
    ranges = [
        f"{name} is searched from {editable_number(ends[0])} to {editable_number(ends[1])}, not "
        "over its usual range."
        for name, ends in plan.ranges.items()
        if len(ends) == 2  # its row shows what is invalid
    ]
    fixed = plan.fixed.items()
    return ranges + [f"{name} stays at {setting_value_text(value)}." for name, value in fixed]


def waiting_settings_text(count: int) -> str:
    """That entered settings are tried afterwards, or ""."""
    subject = "The setting that you entered is" if count == 1 else f"{count} settings of yours are"
    return f" {subject} tried then." if count else ""


def scale_of(axis: Axis) -> str:
    """The scale on which a setting is searched."""
    integer_note = ", whole numbers" if axis.kind == "int" else ""
    return f"{'log' if axis.log else 'linear'}{integer_note}"


def editable_number(number: float) -> str:
    """A number for a field, in the locale."""
    text = shortest_number(number) if isinstance(number, int | float) else str(number)
    point = QLocale().decimalPoint()
    return text if "e" in text else text.replace(".", point)


def with_decimal_point(text: str) -> str:
    """A number of the locale with a decimal point."""
    bare = text.strip()
    try:
        float(bare)
    except ValueError:
        number, fine = QLocale().toDouble(bare)
        return shortest_number(number) if fine else text
    return bare
