"""Deep latent Gaussian models as arrays, one model or several.

weights: (T,), of the members; sum 1
classes: (K,), labels
weights_t_LETTER: the parameters of core.estimators.dlgm.network
mean_t, scale_t: (D,), of the columns
noise_t: (draws, N1 + N2), the draws that predictions are averaged over
"""

from typing import Any

import numpy as np

from core.datasets.raw_table import formats_of
from core.export.bundle import carrier
from core.export.bundle.column_transforms import column_transforms, transform_document
from core.export.bundle.dlgm_prediction import predict_table
from core.export.finished_run import FinishedRun
from core.records import JsonObject, to_plain


def _model_arrays(
    run: FinishedRun, members: list[Any], weights: np.ndarray | None
) -> carrier.Content:
    arrays: carrier.Arrays = {
        "weights": carrier.weight_shares(members, weights),
        "classes": np.asarray(run.pipeline.classes_),
    }
    for t, member in enumerate(members):
        member_arrays = {"mean": member.mean_, "scale": member.scale_, "noise": member.noise_}
        arrays |= {f"{name}_{t}": value for name, value in member_arrays.items()}
        arrays |= {f"weights_{t}_{letter}": value for letter, value in member.weights_.items()}
    columns: JsonObject = {"width": len(run.takeaway.feature_names)}
    if run.takeaway.source.format != "libsvm":
        prepare = run.pipeline.named_steps["prepare"]
        forms = formats_of(run.takeaway.columns, run.takeaway.source)
        columns = {
            "parts": [transform_document(t) for t in column_transforms(prepare)],
            "formats": {name: to_plain(forms[name]) for name in run.takeaway.feature_names},
        }
    activations = [member.activation for member in members]
    return arrays, {**carrier.folder_settings(run), **columns, "activations": activations}


CARRIER = carrier.Carrier(
    version=1,
    does="Predicts the classes of new rows.",
    files="NEW.csv has the columns that the model was trained on, in any order; cells may be "
    "written in other ways, and the target may be absent. OUT.csv gets the class, and the "
    "probability of every class, averaged over all models of the average.",
    modules=(
        *carrier.READING_MODULES,
        "core.estimators.dlgm.network",
        "core.datasets.cell_values",
        "core.export.bundle.column_preparation",
        "core.export.bundle.dlgm_prediction",
    ),
    predict_table=predict_table,
    arrays=_model_arrays,
    needs="numpy and pandas",
)
