"""The live views, in the order in which a board shows them."""

from __future__ import annotations

from app.views.best_so_far import BestSoFar
from app.views.group_penalties import GroupPenalties
from app.views.objective import HoldoutLoss, Objective
from app.views.trajectory import Trajectory
from app.views.trials_table import TrialsTable
from app.views.view import View

VIEWS: dict[str, type[View]] = {
    view.name: view
    for view in (
        BestSoFar,
        TrialsTable,
        Trajectory,
        HoldoutLoss,
        GroupPenalties,
        Objective,
    )
}
