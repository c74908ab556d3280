"""Evaluates surrogates for plots; imports numpy, scipy, contourpy and core.gp only, and no Qt."""

from __future__ import annotations

import math
import os
import signal
import sys
from dataclasses import dataclass, fields
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, TypeVar

from app.worker.worker_process import NICENESS, THREAD_LIMITS
from core.space import Axis
from core.tuning.events import Event, HistoryRead, JointSurfaceFitted, SurrogateFitted

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from core.gp.evaluations import Evaluation
    from core.gp.transfer.joint_fitting import JointHistory


Surface = TypeVar("Surface", bound="DataclassInstance")


@dataclass(frozen=True)
class EvaluationRequest:
    """A request to evaluate a surrogate, for a view of a run."""

    view: str
    number: int  # tells the answers to a view's requests apart
    space: tuple[Axis, ...]  # in the order of the surrogate's unit vectors
    fitted: SurrogateFitted | JointSurfaceFitted
    axes: tuple[str] | tuple[str, str]  # of a slice, or of an image
    history: HistoryRead | None = None  # of a joint surface
    limits: tuple[float, float] = (-math.inf, math.inf)  # of a score


@dataclass(frozen=True)
class EvaluationReply:
    """The slice or the image, or the kind of error."""

    view: str
    number: int
    answer: Evaluation | None = None
    problem: str = ""


def serve_requests(pipe: Connection) -> None:
    """Answer requests until the other end closes."""
    # Before numpy comes, which reads them once.
    os.environ.update(dict.fromkeys(THREAD_LIMITS, "1"))
    if sys.platform != "win32":
        os.nice(NICENESS)
        # Ctrl-C is for the window, which then ends this process.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    # While nobody waits.
    _import_all()
    while True:
        try:
            request = pipe.recv()
            pipe.send(evaluate_request(request))
        except (EOFError, OSError):
            return


def _import_all() -> None:
    # Evaluating a small surrogate imports everything that requests need.
    space = (Axis("x", "x", "float"), Axis("y", "y", "float"))
    fitted = SurrogateFitted(
        trials=2,
        points=[[0.2, 0.3], [0.7, 0.9]],
        responses=[0.0, 1.0],
        numbers=[0, 1],
        lengths=[0.5, 0.5],
        noise=0.1,
        incumbent=[0.7, 0.9],
        next=[0.5, 0.5],
    )
    evaluate_request(EvaluationRequest("", 0, space, fitted, ("x",)))
    evaluate_request(EvaluationRequest("", 0, space, fitted, ("x", "y")))


def evaluate_request(request: EvaluationRequest) -> EvaluationReply:
    """The slice or the image, or the error."""
    # Events of a damaged or an older run must not end the process for the other views.
    try:
        return EvaluationReply(request.view, request.number, _evaluate(request))
    except (ArithmeticError, LookupError, ValueError) as error:
        return EvaluationReply(request.view, request.number, problem=type(error).__name__)


def _evaluate(request: EvaluationRequest) -> Evaluation:
    from core.gp.evaluator import slice_through, surface
    from core.gp.regression import Surrogate
    from core.gp.transfer.joint_evaluator import joint_image, joint_slice
    from core.gp.transfer.joint_fitting import JointSurface

    fitted, space, axes = request.fitted, request.space, request.axes
    limits = request.limits
    if isinstance(fitted, SurrogateFitted):
        surrogate = surface_of(Surrogate, fitted)
        if len(axes) == 1:
            return slice_through(surrogate, space, *axes, limits=limits)
        return surface(surrogate, space, *axes, limits=limits)
    assert request.history is not None
    joint, history = surface_of(JointSurface, fitted), joint_history_of(request.history)
    if len(axes) == 1:
        return joint_slice(joint, history, space, *axes, limits=limits)
    return joint_image(joint, history, space, (axes[0], axes[1]), limits=limits)


def surface_of(kind: type[Surface], event: Event) -> Surface:
    """A surrogate, or a joint surface, from the fields of its event."""
    return kind(**{field.name: getattr(event, field.name) for field in fields(kind)})


def joint_history_of(history: HistoryRead) -> JointHistory:
    """The history of an event."""
    from core.gp.transfer.earlier_trials import DatasetTrials
    from core.gp.transfer.joint_fitting import JointHistory

    datasets = [
        DatasetTrials(
            dataset.statistics,
            [dict(zip(history.axes, values, strict=True)) for values in dataset.values],
            dataset.scores,
        )
        for dataset in history.datasets
    ]
    return JointHistory(datasets, history.statistics, history.simplex)
