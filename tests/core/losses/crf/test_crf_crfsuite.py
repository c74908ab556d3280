"""Our loss at CRFsuite's weights is the loss that CRFsuite has there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pycrfsuite
import pytest

from core.losses.crf.chain import log_likelihoods, viterbi
from core.losses.crf.crf_loss import build_crf


def compare(table: pd.DataFrame, sequence: str, y: np.ndarray, folder: Path) -> None:
    """Train CRFsuite, take its weights, compare likelihoods and labels on the same rows."""
    table = table.reset_index(drop=True)
    features = [name for name in table if name != sequence]
    words = list(zip(*(name + "=" + table[name].astype(str) for name in features), strict=True))
    items = [[word for word in row if not word.endswith("=nan")] for row in words]
    rows = list(table.groupby(sequence, sort=False).indices.values())
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.set_params({"c2": 0.5, "max_iterations": 15, "feature.possible_states": True})
    for own in rows:
        trainer.append([items[t] for t in own], y[own].tolist())
    model = str(folder / "model.crfsuite")
    trainer.train(model)
    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    labels = sorted(set(y))
    loss = build_crf(table, sequence, y, labels)
    place = {name: k for k, name in enumerate(loss.names)}
    w, info = loss.initial_weights(), tagger.info()
    for (word, label), weight in info.state_features.items():
        w[place[f"{word} → {label}"]] = weight
    for (before, after), weight in info.transitions.items():
        w[place[f"{before} → {after}"]] = weight
    assert np.count_nonzero(w) > 0.5 * len(info.state_features)
    theirs, best = [], []
    for own in rows:
        best += tagger.tag([items[t] for t in own])
        theirs.append(np.log(tagger.probability(y[own].tolist())))
    ours = log_likelihoods(w, len(labels), loss.tokens, loss.codes)
    # CRFsuite tells its weights with six decimals.
    np.testing.assert_allclose(ours, theirs, atol=1e-4)
    value = loss.value_and_gradient(w)[0]
    assert value == pytest.approx(-np.sum(theirs), rel=1e-6)
    assert value + 0.5 * w @ w == pytest.approx(trainer.logparser.last_iteration["loss"], rel=1e-6)
    same = np.array(labels)[viterbi(w, len(labels), loss.tokens)] == np.array(best)
    assert same.mean() > 0.999


def test_on_generated_words(tmp_path) -> None:
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 25, 150)
    word = rng.integers(60, size=lengths.sum())
    table = pd.DataFrame(
        {
            "text": np.repeat(np.arange(150), lengths),
            "word": np.char.add("w", word.astype(str)),
            "end": np.char.add("e", (word % 7).astype(str)),
        }
    )
    y = np.where(rng.random(len(table)) < 0.7, word % 4, rng.integers(4, size=len(table)))
    compare(table, "text", np.array(list("ABCD"))[y], tmp_path)


def test_on_tagged_english(shared_data, tmp_path) -> None:
    table = pd.read_csv(shared_data / "pos_ewt_train.csv", keep_default_na=False)
    y = table.pop("tag").to_numpy().astype(str)
    few = table["sequence"] <= table["sequence"].unique()[80]
    compare(table[few], "sequence", y[few], tmp_path)
