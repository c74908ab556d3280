"""Requests of views to the evaluator's process, and its replies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.tuning.events import HistoryRead, JointSurfaceFitted, SurrogateFitted

if TYPE_CHECKING:  # numpy comes with them
    from core.gp.evaluations import Evaluation
    from core.space import Axis


@dataclass(frozen=True)
class EvaluationRequest:
    """A request to evaluate a surrogate, for a view of a run."""

    view: str
    run: str
    space: tuple[Axis, ...]  # in the order of the surrogate's unit vectors
    fitted: SurrogateFitted | JointSurfaceFitted
    axes: tuple[str] | tuple[str, str]  # of a slice, or of an image
    history: HistoryRead | None = None  # of a joint surface


@dataclass(frozen=True)
class EvaluationReply:
    """The slice or the image, or the kind of error."""

    view: str
    run: str
    answer: Evaluation | None = None
    problem: str = ""
