"""The live views, in the order of the board."""

from __future__ import annotations

from typing import Any

from app.views.ensemble.average_vs_best import AverageAgainstBest
from app.views.ensemble.disagreement_view import Disagreement
from app.views.ensemble.effective_candidates import EffectiveCandidates
from app.views.ensemble.members_view import MemberWeights
from app.views.generative.pictures_view import PicturesView
from app.views.generative.topics_view import TopicsView
from app.views.penalties.group_penalties import GroupPenalties
from app.views.penalties.log_penalty_path import LogPenaltyPath
from app.views.penalties.objective import HoldoutLoss, Objective
from app.views.penalties.trajectory import PenaltyTrajectory
from app.views.plot.view import View
from app.views.race.race_board import RaceBoard
from app.views.structured.arc_view import ArcView
from app.views.structured.dot_plot import DotPlotView
from app.views.structured.sequence_view import SequenceView
from app.views.surrogate.gp_slice import GpSlice
from app.views.surrogate.surface_view import Surface
from app.views.transfer.nearest_datasets import NearestDatasets
from app.views.transfer.posterior_slice import PosteriorSlice
from app.views.transfer.posterior_surface import PosteriorSurface
from app.views.transfer.standardization_view import StandardizationView
from app.views.trials.best_so_far import BestSoFar
from app.views.trials.parallel_coordinates import ParallelCoordinates
from app.views.trials.predicted_vs_observed import PredictedVsObserved
from app.views.trials.trials_table import TrialsTable
from core.extensions import Registry


def _check_view(entry: Any) -> None:
    if not (isinstance(entry, type) and issubclass(entry, View)):
        raise TypeError("it is no View")


VIEWS: Registry[type[View]] = Registry(
    "tunescope.views",
    (
        RaceBoard,
        GpSlice,
        PosteriorSlice,
        MemberWeights,
        AverageAgainstBest,
        BestSoFar,
        NearestDatasets,
        StandardizationView,
        TopicsView,
        PicturesView,
        Surface,
        PosteriorSurface,
        TrialsTable,
        Disagreement,
        EffectiveCandidates,
        ParallelCoordinates,
        PredictedVsObserved,
        PenaltyTrajectory,
        LogPenaltyPath,
        SequenceView,
        ArcView,
        DotPlotView,
        GroupPenalties,
        HoldoutLoss,
        Objective,
    ),
    _check_view,
)
