"""What views ask of the evaluator's process, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.tuning.events import HistoryRead, JointSurfaceFitted, SurrogateFitted

if TYPE_CHECKING:  # numpy comes with them
    from core.gp.evaluations import Evaluation
    from core.space import Axis


@dataclass(frozen=True)
class EvaluationRequest:
    """A surrogate is to be evaluated.

    Attributes:
        view, run: for which view of which run; the answer carries both.
        space: its axes, in the order of its unit vectors.
        fitted: the surrogate; a joint surface comes with its history.
        axes: the name of the axis of a slice, or those of the two axes of an image.
    """

    view: str
    run: str
    space: tuple[Axis, ...]
    fitted: SurrogateFitted | JointSurfaceFitted
    axes: tuple[str] | tuple[str, str]
    history: HistoryRead | None = None


@dataclass(frozen=True)
class EvaluationReply:
    """The slice or the image, or by which error there is none."""

    view: str
    run: str
    answer: Evaluation | None = None
    problem: str = ""
