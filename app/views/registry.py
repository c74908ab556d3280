"""The live views, in the order of the board."""

from typing import Any

from app.views import ensemble_views, penalty_views
from app.views.earlier_dataset_views import NearestDatasets, StandardizationView
from app.views.molecule_views import ArcView, DotPlotView
from app.views.parallel_coordinates import ParallelCoordinates
from app.views.pictures_view import PicturesView
from app.views.plot.view import View
from app.views.posterior_views import PosteriorSlice, PosteriorSurface
from app.views.race_board import RaceBoard
from app.views.sequence_view import SequenceView
from app.views.slice_views import GpSlice
from app.views.surface_view import Surface, TrialRanks
from app.views.topics_view import TopicsView
from app.views.trial_views import BestSoFar, PredictedVsObserved, Timeline
from app.views.trials_table import TrialsTable
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
        ensemble_views.MemberWeights,
        ensemble_views.AverageAgainstBest,
        BestSoFar,
        NearestDatasets,
        StandardizationView,
        TopicsView,
        PicturesView,
        Surface,
        PosteriorSurface,
        ensemble_views.Disagreement,
        ensemble_views.EffectiveCandidates,
        ParallelCoordinates,
        TrialsTable,
        TrialRanks,
        PredictedVsObserved,
        Timeline,
        penalty_views.PenaltyTrajectory,
        penalty_views.LogPenaltyPath,
        SequenceView,
        ArcView,
        DotPlotView,
        penalty_views.GroupPenalties,
        penalty_views.HoldoutLoss,
        penalty_views.Objective,
    ),
    _check_view,
)
