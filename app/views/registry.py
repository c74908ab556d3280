"""The live views, in the order in which a board shows them."""

from __future__ import annotations

from typing import Any

from app.views.ensemble.disagreement import Disagreement
from app.views.ensemble.focus import Focus
from app.views.ensemble.members import Members
from app.views.ensemble.progress import AverageAgainstBest
from app.views.generative.pictures_view import PicturesView
from app.views.generative.topics_view import TopicsView
from app.views.penalties.group_penalties import GroupPenalties
from app.views.penalties.objective import HoldoutLoss, Objective
from app.views.penalties.path_of_d import PathOfD
from app.views.penalties.trajectory import Trajectory
from app.views.plot.view import View
from app.views.race.course import ModelCourse
from app.views.race.leaderboard import Leaderboard
from app.views.structured.arc_view import ArcView
from app.views.structured.dot_plot import DotPlotView
from app.views.structured.sequence_view import SequenceView
from app.views.surrogate.gp_slice import GpSlice
from app.views.surrogate.surface_view import Surface
from app.views.transfer.nearest_datasets import NearestDatasets
from app.views.transfer.posterior_slice import PosteriorSlice
from app.views.transfer.posterior_surface import PosteriorSurface
from app.views.transfer.standardizing import Standardizing
from app.views.trials.best_so_far import BestSoFar
from app.views.trials.parallel import Parallel
from app.views.trials.predicted_obtained import PredictedObtained
from app.views.trials.trials_table import TrialsTable
from core.extensions import Registry


def _check(entry: Any) -> None:
    if not (isinstance(entry, type) and issubclass(entry, View)):
        raise TypeError("it is no View")


VIEWS: Registry[type[View]] = Registry(
    "tunescope.views",
    (
        Leaderboard,
        ModelCourse,
        GpSlice,
        PosteriorSlice,
        Members,
        AverageAgainstBest,
        BestSoFar,
        NearestDatasets,
        Standardizing,
        TopicsView,
        PicturesView,
        Surface,
        PosteriorSurface,
        TrialsTable,
        Disagreement,
        Focus,
        Parallel,
        PredictedObtained,
        Trajectory,
        PathOfD,
        SequenceView,
        ArcView,
        DotPlotView,
        GroupPenalties,
        HoldoutLoss,
        Objective,
    ),
    _check,
)
