"""Finished runs on small sequences and molecules, fitted by the real estimators."""

from __future__ import annotations

import copy
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from exported_files import write_run
from sklearn.pipeline import Pipeline

from core.datasets.dataset import Dataset, DataSource
from core.datasets.dataset_summary import Column
from core.estimators.averages.table_average import average_models
from core.tuning.events import (
    FoldedMolecule,
    LabelledSequence,
    MoleculesFolded,
    PenaltyStep,
    RunStarted,
    SequencesLabelled,
)
from core.tuning.plan import DataPlan, Plan
from core.tuning.results.model_metadata import LearnedPenalties
from core.tuning.runs.best import keep_best
from core.tuning.runs.run_folder import RunFolder

SOURCE = DataSource("data.csv", "csv", {"na_values": ["", "NA"]}, fingerprint="0")
WORDS = ["the", "dog", 'say "hi"', "a, b", "runs", "naïve", "3.0", "<b>"]


@dataclass(frozen=True)
class Run:
    """A run folder, its fitted estimator, and the rows of its file."""

    folder: RunFolder
    model: Any
    table: pd.DataFrame
    target: str

    @property
    def features(self) -> pd.DataFrame:
        """What the estimator takes."""
        names = ["sequence"] if self.target == "structure" else None
        return self.table[names] if names else self.table.drop(columns=self.target)


def tokens(seed: int = 0, sequences: int = 40) -> pd.DataFrame:
    """Sequences of one to eight tokens whose labels follow the words and each other."""
    random = np.random.default_rng(seed)
    rows = []
    for number in range(sequences):
        before = 0
        for _ in range(random.integers(1, 9)):
            code = int(random.integers(len(WORDS)))
            label = (code + before) % 3 if random.random() < 0.8 else int(random.integers(3))
            length = np.nan if random.random() < 0.1 else round(random.normal(label, 1.0), 3)
            rows.append((f"s {number}", WORDS[code], length, "ABC"[label]))
            before = label
    return pd.DataFrame(rows, columns=["sequence", "word", "length", "tag"])


def molecules(seed: int = 0, count: int = 8) -> pd.DataFrame:
    """Hairpins with a few loose bases at both ends."""
    random = np.random.default_rng(seed)
    partner = dict(zip("ACGU", "UGCA", strict=True))
    rows = []
    for number in range(count):
        stem, loop = random.choice(list("ACGU"), random.integers(4, 7)), random.integers(3, 6)
        ends = ["".join(random.choice(list("AGU"), random.integers(1, 5))) for _ in range(2)]
        inner = "".join(random.choice(list("ACGU"), loop))
        letters = (
            ends[0] + "".join(stem) + inner + "".join(partner[b] for b in stem[::-1]) + ends[1]
        )
        marks = "." * len(ends[0]) + "(" * len(stem) + "." * loop + ")" * len(stem)
        rows.append((f"RF{number}", letters, marks + "." * len(ends[1])))
    return pd.DataFrame(rows, columns=["id", "sequence", "structure"])


def crf_run(path: Path, decoding: str = "posterior") -> Run:
    """A run of a tagger with a penalty for each kind of its weights."""
    from core.estimators.structured.crf_tagger import CrfTagger
    from core.losses.crf.crf_loss import build_crf

    table = tokens()
    X, y = table.drop(columns="tag"), table["tag"].to_numpy(dtype=object)
    model = CrfTagger(0.5, "sequence", decoding).fit(X, y)
    loss = build_crf(X, "sequence", y, sorted(set(y)))
    groups = list(dict.fromkeys(loss.sources))
    places = np.array([groups.index(source) for source in loss.sources])
    penalties = {group: 0.5 * 2.0**k for k, group in enumerate(groups)}
    model.set_weights(loss, model.w_, penalties, places)
    roles = {"sequence": "sequence", "tag": "target"}
    columns = [Column(name, roles.get(name, "feature"), "category") for name in table]
    marginals, said = model.predict_proba(X), model.predict(X)
    first = table["sequence"] == table["sequence"][0]
    shown = LabelledSequence(
        name="s 0",
        tokens=table["word"][first].tolist(),
        truth=y[first].tolist(),
        labels=said[first].tolist(),
        marginals=marginals[first].tolist(),
    )
    labels = [str(label) for label in model.classes_]
    counts = [[int(sum((y == a) & (said == b))) for b in labels] for a in labels]
    results = {
        "metric": "accuracy",
        "test": {"accuracy": 0.8125, "joint_log_loss": 0.41},
        "default_test": {"accuracy": 0.75},
        "right": {"tuned": 130, "default": 120, "rows": 160},
        "confusion": {"labels": labels, "tuned": counts, "default": counts},
        "sequences": {"tuned": 17, "default": 13, "count": 40},
    }
    dataset = Dataset("data.csv", SOURCE, columns, X, None, y, "sequence", tuple(labels))
    event = SequencesLabelled(step=1, classes=labels, sequences=[shown])
    folder = _folder(path, "crf", dataset, model, event, results)
    return Run(folder, model, table, "tag")


def rna_run(path: Path) -> Run:
    """A run of a folding model with one penalty."""
    from core.estimators.structured.rna_folder import RnaFolder

    table = molecules()
    X, y = table[["sequence"]], table["structure"].to_numpy(dtype=object)
    model = RnaFolder(0.1).fit(X, y)
    kinds = {"id": "ignore", "sequence": "sequence", "structure": "target"}
    columns = [Column(name, role, "text") for name, role in kinds.items()]
    curve = [[2.0**k, 0.9 - 0.03 * (10 - k), 0.5 + 0.03 * (10 - k)] for k in range(-5, 11)]
    results = {
        "metric": "pair_f1",
        "test": {"pair_f1": 0.8125, "structure_log_loss": 4.2},
        "default_test": {"pair_f1": 0.75},
        "pairs": {
            "tuned": {"right": 31, "called": 37, "true": 43},
            "default": {"right": 29, "called": 41, "true": 43},
            "molecules": 5,
        },
        "curve": {"tuned": curve, "default": [[g, s * 0.9, p * 0.9] for g, s, p in curve]},
    }
    shown = FoldedMolecule(
        name="RF0",
        sequence=table["sequence"][0],
        truth=y[0].replace("((", "[[").replace("))", "]]"),
        predicted=model.predict(X)[0],
        pairs=[],
    )
    event = MoleculesFolded(step=1, molecules=[shown])
    dataset = Dataset("data.csv", SOURCE, columns, X, None, y, "structure", ())
    folder = _folder(path, "rna", dataset, model, event, results)
    return Run(folder, model, table, "structure")


def averaged_run(run: Run, path: Path) -> Run:
    """The same run with an average of three models in place of its one."""
    task = "structure" if run.target == "structure" else "sequence"
    fitted = []
    for number, scale in enumerate((1.0, 0.4, 1.5)):
        model = copy.deepcopy(run.model)
        model.w_ = scale * model.w_  # as good as any fit to predict with
        fitted.append((f"trial {number}", model))
    classes = getattr(fitted[0][1], "classes_", np.array([])).tolist()
    model = average_models(task, fitted, (0.5, 0.3, 0.2), classes)
    shutil.copytree(run.folder.path, path)
    folder = RunFolder(path)
    keep_best(folder, Pipeline([("prepare", "passthrough"), ("model", model)]))
    return Run(folder, model, run.table, run.target)


def _folder(path, name, dataset, model, shown, results):
    """Everything that a run leaves."""
    penalties = dict(model.penalties_)
    norms, half = dict.fromkeys(penalties, 1.5), dataset.rows // 2
    steps = [
        PenaltyStep(step=k, objective=90.0 - k, loss=80.0 - k, penalties=penalties, norms=norms)
        for k in range(3)
    ]
    rest = {
        "default_setting": {"C": 1.0},
        "test_interval": [0.7, 0.9],
        "default_interval": [0.65, 0.85],
        "groups": penalties,
        "fits": 3,
        "seconds": 2.5,
        "stopped_because": "the penalties no longer change",
    }
    return write_run(
        RunFolder.create(Plan(DataPlan("data.csv"), name, "mm"), path=path),
        dataset,
        Pipeline([("prepare", "passthrough"), ("model", model)]),
        [RunStarted(run="r", kind="penalties", metric=results["metric"]), *steps, shown],
        rest | results,
        (range(half), range(half, dataset.rows)),
        penalties=LearnedPenalties(penalties),
    )
