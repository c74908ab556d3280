"""RNA folding as arrays, n = 708 parameters in the order of core.losses.rna.parameters."""

from typing import Any

import numpy as np

from core.export.bundle.carrier import READING_MODULES, Arrays, Carrier, Content
from core.export.bundle.fold_prediction import predict_table
from core.export.bundle.parameter_arrays import (
    check_parameters,
    parameter_arrays,
    raise_unless,
    settings_of_run,
)
from core.export.finished_run import FinishedRun
from core.losses.rna import PREDICTION_MODULES
from core.losses.rna.parameters import NAMES


def _model_arrays(run: FinishedRun, members: list[Any], weights: np.ndarray | None) -> Content:
    first, column = members[0], run.takeaway.feature_names[0]
    options = {"gamma": first.gamma, "shortest_hairpin": first.shortest_hairpin}
    return parameter_arrays(members, weights), settings_of_run(run, column, **options)


def _check_arrays(arrays: Arrays) -> None:
    settings = check_parameters(arrays)
    raise_unless(arrays["names"].tolist() == NAMES, "its parameters have other names")
    gamma, shortest = settings.gamma, settings.shortest_hairpin
    raise_unless(gamma is not None and 0 < gamma < np.inf, "gamma is out of range")
    raise_unless(shortest is not None and 0 <= shortest < 1000, "the shortest hairpin is odd")


CARRIER = Carrier(
    version=2,
    does="Folds new RNA molecules with a conditional log-linear model.",
    files="NEW.csv has a column of letters, one row a molecule. OUT.csv gets the structure in "
    "dot-bracket notation, the share of bases that the model expects to be right, and the mean "
    "probability of the base pairs.",
    modules=(
        *PREDICTION_MODULES,
        "core.export.bundle.member_arrays",
        *READING_MODULES,
        "core.export.bundle.fold_prediction",
    ),
    predict_table=predict_table,
    arrays=_model_arrays,
    check=_check_arrays,
    program="predict_structures.py",
)
