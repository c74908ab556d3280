"""Fitted topic models and deep latent Gaussian models as named numpy arrays, one model or several.

format, kind: (), version of this list, 1; "lda" or "dlgm"
weights: (T,), of the members; sum 1
settings: (), JSON text: columns, how the training file was written, versions

words: (V,), lda: the vocabulary
columns: (V,), lda, of counts: their columns in the file, from 0
components_t: (K, V), lda: λ of member t, E[β] up to the scale of its rows
alpha, tolerance, iterations: (T,), lda: as in core.estimators.lda.online_lda

classes: (K,), dlgm: labels
weights_t_LETTER: dlgm: the parameters of core.estimators.dlgm.network
mean_t, scale_t: (D,), dlgm: of the columns
noise_t: (draws, N1 + N2), dlgm: the draws that predictions are averaged over
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from core.datasets.table_formats import formats_of
from core.export.bundle.folder_columns import column_transforms, transform_document
from core.export.files.parameter_arrays import Arrays, cell_format_of_run
from core.export.finished_run import FinishedRun
from core.records import to_plain

FORMAT = 1


def members_of_model(model: Any) -> tuple[list[Any], np.ndarray]:
    """The fitted members of an average, and their weights; of a single model, itself and 1."""
    members = getattr(model, "estimators_", None)
    if members is None:
        members = [member for _, member in getattr(model, "members", [("model", model)])]
    weights = getattr(model, "weights", None)
    raw = np.ones(len(members)) if weights is None else np.asarray(weights, dtype=np.float64)
    return list(members), raw / raw.sum()


def folder_arrays(run: FinishedRun) -> Arrays:
    """The arrays of a run's fitted model."""
    prepare, model = run.pipeline.named_steps["prepare"], run.pipeline[-1]
    members, weights = members_of_model(model)
    kind, arrays_of_kind = _KINDS[run.model.folder]
    settings = {
        "reading": to_plain(cell_format_of_run(run)),
        "zero_based": bool(run.takeaway.source.libsvm.get("zero_based", False)),
        "run": run.name,
        "versions": run.takeaway.versions,
    }
    arrays, kind_settings = arrays_of_kind(run, prepare, members)
    return {
        "format": np.array(FORMAT),
        "kind": np.array(kind),
        "weights": weights,
        **arrays,
        "settings": np.array(json.dumps(settings | kind_settings, ensure_ascii=False)),
    }


def _topic_arrays(
    run: FinishedRun, prepare: Any, members: list[Any]
) -> tuple[Arrays, dict[str, Any]]:
    counting = prepare.named_steps["columns"]
    columns = getattr(counting, "kept_", None)
    arrays = {
        "words": np.array([str(word) for word in counting.vocabulary_]),
        "columns": np.array([] if columns is None else columns, dtype=np.int64),
        "alpha": np.array([member.alpha_ for member in members], dtype=np.float64),
        "tolerance": np.array([member.tolerance for member in members], dtype=np.float64),
        "iterations": np.array([member.iterations for member in members], dtype=np.int64),
    }
    arrays |= {f"components_{t}": member.components_ for t, member in enumerate(members)}
    return arrays, {"column": run.takeaway.feature_names[0] if columns is None else ""}


def _dlgm_arrays(
    run: FinishedRun, prepare: Any, members: list[Any]
) -> tuple[Arrays, dict[str, Any]]:
    arrays: Arrays = {"classes": np.asarray(run.pipeline.classes_)}
    for t, member in enumerate(members):
        member_arrays = {"mean": member.mean_, "scale": member.scale_, "noise": member.noise_}
        arrays |= {f"{name}_{t}": value for name, value in member_arrays.items()}
        arrays |= {f"weights_{t}_{letter}": value for letter, value in member.weights_.items()}
    columns: dict[str, Any] = {"width": len(run.takeaway.feature_names)}
    if run.takeaway.source.format != "libsvm":
        forms = formats_of(run.takeaway.columns, run.takeaway.source)
        columns = {
            "parts": [transform_document(t) for t in column_transforms(prepare)],
            "formats": {name: to_plain(forms[name]) for name in run.takeaway.feature_names},
        }
    return arrays, {**columns, "activations": [member.activation for member in members]}


_KINDS = {"topics": ("lda", _topic_arrays), "classes": ("dlgm", _dlgm_arrays)}
