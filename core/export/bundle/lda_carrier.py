"""Topic models as arrays, one model or several, and the tables of their topics.

weights: (T,), of the members; sum 1
words: (V,), the vocabulary
columns: (V,), of counts: their columns in the file, from 0
components_t: (K, V), λ of member t, E[β] up to the scale of its rows
alpha, tolerance, iterations: (T,), as in core.estimators.lda.online_lda
"""

from typing import Any

import numpy as np

from core.estimators.lda.fitted_topics import topic_sizes, topic_words, word_probabilities
from core.export.bundle.carrier import (
    READING_MODULES,
    Arrays,
    Carrier,
    Content,
    csv_bytes,
    folder_settings,
    model_members,
    weight_shares,
)
from core.export.bundle.parameter_arrays import raise_unless
from core.export.bundle.topic_prediction import predict_table
from core.export.finished_run import FinishedRun

MAX_TOPIC_WORDS = 20
MAX_STEPS = 1000  # for a document; ours have 100


def _model_arrays(run: FinishedRun, members: list[Any], weights: np.ndarray | None) -> Content:
    counting = run.pipeline.named_steps["prepare"].named_steps["columns"]
    columns = getattr(counting, "kept_", None)
    arrays = {
        "weights": weight_shares(members, weights),
        "words": np.array([str(word) for word in counting.vocabulary_]),
        "columns": np.array([] if columns is None else columns, dtype=np.int64),
        "alpha": np.array([member.alpha_ for member in members], dtype=np.float64),
        "tolerance": np.array([member.tolerance for member in members], dtype=np.float64),
        "iterations": np.array([member.iterations for member in members], dtype=np.int64),
    }
    arrays |= {f"components_{t}": member.components_ for t, member in enumerate(members)}
    # Counts need no column of texts: their files are LIBSVM lines.
    column = run.takeaway.feature_names[0] if columns is None else ""
    return arrays, {**folder_settings(run), "column": column}


def _topic_tables(run: FinishedRun) -> dict[str, bytes]:
    members, weights = model_members(run.pipeline[-1])
    best = members[int(np.argmax(weight_shares(members, weights)))]
    words = [str(word) for word in run.pipeline[0].named_steps["columns"].vocabulary_]
    named = [f"topic {k + 1}" for k in range(len(best.components_))]
    sizes, tops = topic_sizes(best), topic_words(best, words, MAX_TOPIC_WORDS)
    order = np.argsort(-sizes, kind="stable")
    largest_first = [[named[k], f"{sizes[k]:.5f}", " ".join(tops[k])] for k in order]
    word_shares = zip(words, word_probabilities(best).T, strict=True)
    rows = [[word, *(f"{share:.4g}" for share in shares)] for word, shares in word_shares]
    return {
        "topics.csv": csv_bytes(["topic", "share of all words", "likeliest words"], largest_first),
        "words.csv": csv_bytes(["word", *named], rows),
    }


def _check_arrays(arrays: Arrays) -> None:
    steps = arrays["iterations"]
    is_bounded = steps.dtype.kind == "i" and bool(np.all((steps > 0) & (steps <= MAX_STEPS)))
    raise_unless(is_bounded, "the number of its steps is odd")


CARRIER = Carrier(
    version=1,
    does="Finds the topics of new documents.",
    files="NEW.csv has the column of texts, or LIBSVM lines of counts where the model was trained "
    "on these. OUT.csv gets the share of every topic, and how well the words of one random half of "
    "the document are predicted by the other: its log density in nats, averaged over all models of "
    "the average, and the number of these words.",
    modules=(*READING_MODULES, "core.datasets.texts.words", "core.export.bundle.topic_prediction"),
    predict_table=predict_table,
    arrays=_model_arrays,
    check=_check_arrays,
    tables=_topic_tables,
)
