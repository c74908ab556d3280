"""The live views, in the order in which a board shows them."""

from __future__ import annotations

from app.views.arc_view import ArcView
from app.views.best_so_far import BestSoFar
from app.views.common_slice import CommonSlice
from app.views.common_surface import CommonSurface
from app.views.dot_plot import DotPlotView
from app.views.ensemble_disagreement import Disagreement
from app.views.ensemble_focus import Focus
from app.views.ensemble_members import Members
from app.views.ensemble_progress import AverageAgainstBest
from app.views.gp_slice import GpSlice
from app.views.group_penalties import GroupPenalties
from app.views.nearest_datasets import NearestDatasets
from app.views.objective import HoldoutLoss, Objective
from app.views.parallel import Parallel
from app.views.path_of_d import PathOfD
from app.views.pictures_view import PicturesView
from app.views.predicted_obtained import PredictedObtained
from app.views.sequence_view import SequenceView
from app.views.standardizing import Standardizing
from app.views.surface import Surface
from app.views.topics_view import TopicsView
from app.views.trajectory import Trajectory
from app.views.trials_table import TrialsTable
from app.views.view import View

VIEWS: dict[str, type[View]] = {
    view.name: view
    for view in (
        GpSlice,
        CommonSlice,
        Members,
        AverageAgainstBest,
        BestSoFar,
        NearestDatasets,
        Standardizing,
        TopicsView,
        PicturesView,
        Surface,
        CommonSurface,
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
    )
}
