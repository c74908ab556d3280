"""A picture of the results: what the Results page and the report show of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from core.figures.figure import Figure
from core.tuning.run_results import Results


@dataclass(frozen=True)
class ResultPicture:
    """A figure with the question that it answers.

    Attributes:
        waiting: what will appear in its place, and when.
        width: of its card in the report.
    """

    name: str
    title: str
    question: str
    waiting: str
    is_suitable: Callable[[Results], bool]
    figure: Callable[[Results], Figure]
    width: Literal["wide", "half", "narrow"] = "half"
    has_legend: bool = False
