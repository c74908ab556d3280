"""Parts of a date in an ONNX graph, from its seconds since 1970 (N, 1); NaN where there is none.

Years and months of the proleptic Gregorian calendar by Hinnant's algorithm "civil_from_days": years
begin in March, and eras of 400 years have 146,097 days.
"""

from __future__ import annotations

from core.export.onnx.graph import OnnxGraph


def date_part(graph: OnnxGraph, part: str, seconds: str) -> str:
    """The year (since 1970), month (from 1), weekday (Monday is 1) or hour, (N, 1)."""
    calculate = _Arithmetic(graph)
    if part == "hour":
        number = calculate.remainder(calculate.quotient(seconds, 3600), 24)
    elif part == "weekday":
        days = calculate.quotient(seconds, 86_400)  # 1970 began on a Thursday
        number = calculate.plus(calculate.remainder(calculate.plus(days, 3), 7), 1)
    else:
        year, month = _year_and_month(calculate, calculate.quotient(seconds, 86_400))
        number = month if part == "month" else calculate.plus(year, -1970)
    # What is no number goes on as none.
    return graph.add_node("Where", graph.add_node("IsNaN", seconds), seconds, number)


class _Arithmetic:
    """Whole numbers in double precision, divided downwards."""

    def __init__(self, graph: OnnxGraph) -> None:
        self.graph = graph

    def node(self, kind: str, left: str, right: str | float) -> str:
        if not isinstance(right, str):
            right = self.graph.add_constant(float(right))
        return self.graph.add_node(kind, left, right)

    def plus(self, left: str, right: str | float) -> str:
        return self.node("Add", left, right)

    def minus(self, left: str, right: str | float) -> str:
        return self.node("Sub", left, right)

    def times(self, left: str, right: str | float) -> str:
        return self.node("Mul", left, right)

    def quotient(self, left: str, right: float) -> str:
        return self.graph.add_node("Floor", self.node("Div", left, right))

    def remainder(self, left: str, right: float) -> str:
        return self.minus(left, self.times(self.quotient(left, right), right))

    def choose(self, condition: str, yes: str, no: str) -> str:
        return self.graph.add_node("Where", condition, yes, no)


def _year_and_month(c: _Arithmetic, days: str) -> tuple[str, str]:
    days = c.plus(days, 719_468)  # since March 1 of the year 0
    era = c.quotient(days, 146_097)
    day_of_era = c.remainder(days, 146_097)
    leap_days = c.minus(
        c.plus(day_of_era, c.quotient(day_of_era, 36_524)),
        c.plus(c.quotient(day_of_era, 1460), c.quotient(day_of_era, 146_096)),
    )
    year_of_era = c.quotient(leap_days, 365)
    years_days = c.minus(
        c.plus(c.times(year_of_era, 365), c.quotient(year_of_era, 4)), c.quotient(year_of_era, 100)
    )
    day_of_year = c.minus(day_of_era, years_days)
    month = c.quotient(c.plus(c.times(day_of_year, 5), 2), 153)  # March is 0
    is_next_year = c.node("GreaterOrEqual", month, 10)
    month = c.choose(is_next_year, c.plus(month, -9), c.plus(month, 3))
    year = c.plus(year_of_era, c.times(era, 400))
    return c.choose(is_next_year, c.plus(year, 1), year), month
