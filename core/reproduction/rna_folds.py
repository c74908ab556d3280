"""Two-fold cross-validation of RNA folding: figure 3 of Do 2008, tables 3b and 4 of Foo 2009.

The 151 molecules carry their fold in the name (…_A, …_B). A learner sees one fold and is tested on
the other; the implicit gradient holds out a third of its fold. The three tables share their runs.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.reading import read_dataset
from core.errors import UnusableError
from core.estimators.structured.rna_folder import RnaFolder
from core.losses.rna.loss import RnaLoss, build_rna
from core.losses.rna.parameters import MOTIFS
from core.losses.rna.scores import roc_area
from core.options import complete
from core.penalties.problem import PenaltyProblem
from core.reproduction.checkpoint import Checkpoint
from core.reproduction.papers import (
    DO_FIGURE_3,
    DO_FIGURE_3_AREA,
    DO_FIGURE_3_LOSS,
    FOO_TABLE_3B,
    FOO_TABLE_4,
)
from core.reproduction.table import Cells
from core.tuning.guidance.forecast import in_time
from core.tuning.strategies.registry import STRATEGIES

FILE = "rna_s151rfam.csv"
FOLDS = ("A", "B")
GROUPINGS = ("single", "grouped", "separate")  # the dearest last
HELD = 3  # every third molecule of a fold is held out for the implicit gradient
QUICK_MOLECULES, QUICK_BASES = 20, 100  # of a fold: so many, none longer

Fold = tuple[list[str], list[str]]  # letters and structures
Parts = Iterator[Cells | str]


def figure3_rows(folder: Path | None, quick: bool) -> Parts:
    """Implicit gradient: ROC area and test log loss by grouping, then the learned penalties."""
    runs = yield from _runs(folder, quick, [("gradient", grouping) for grouping in GROUPINGS])
    for grouping in GROUPINGS:
        area, loss = _tested(runs, "gradient", grouping)
        yield {
            "": grouping,
            "ROC area (paper)": DO_FIGURE_3_AREA[grouping],
            "ROC area": area,
            "log loss (paper)": DO_FIGURE_3_LOSS[grouping],
            "log loss": loss,
        }
    yield from _penalties(runs, "gradient", DO_FIGURE_3)


def table3b_rows(folder: Path | None, quick: bool) -> Parts:
    """MM: the learned penalty of every motif type, a fold a column."""
    runs = yield from _runs(folder, quick, [("mm", "grouped")])
    printed = {name: figures[2:] for name, figures in FOO_TABLE_3B.items()}
    yield from _penalties(runs, "mm", printed)


def table4_rows(folder: Path | None, quick: bool) -> Parts:
    """ROC area and test log loss of gradient, direct and mm by grouping."""
    names = ("gradient", "direct", "mm")
    wanted = [(name, grouping) for grouping in FOO_TABLE_4 for name in names]
    runs = yield from _runs(folder, quick, wanted)
    for grouping in FOO_TABLE_4:
        cells: dict[str, Any] = {"": grouping}
        for name in names:
            area, loss = _tested(runs, name, grouping)
            cells[f"{name} (paper)"] = FOO_TABLE_4.get(grouping, {}).get(name)
            cells |= {name: area, f"{name} log loss": loss}
        yield cells


def _penalties(runs: dict[str, Any], name: str, printed: dict[str, Any]) -> Iterator[Cells]:
    """A row a motif: the penalties of both folds, with a mark for those at a limit."""
    for motif in MOTIFS:
        cells: dict[str, Any] = {"": motif}
        for fold, figure in zip(FOLDS, printed[motif], strict=True):
            run = runs[_key(name, "grouped", fold)]
            at_limit = motif in run["at_limit"]
            shown = f"{run['penalties'][motif]:.4g}" + (" (limit)" if at_limit else "")
            cells |= {f"fold {fold} (paper)": figure, f"fold {fold}": shown}
        yield cells


def _tested(runs: dict[str, Any], name: str, grouping: str) -> tuple[float, float]:
    """ROC area over the molecules of both folds, and the summed log loss."""
    both = [runs[_key(name, grouping, fold)] for fold in FOLDS]
    pairs = np.sum([run["pairs"] for run in both], axis=0)
    return round(roc_area(pairs), 4), round(sum(run["log_loss"] for run in both), 1)


def _runs(
    folder: Path | None, quick: bool, wanted: list[tuple[str, str]]
) -> Generator[str, None, dict[str, Any]]:
    """Do the runs that are not on record yet, saying how far it is; {key: run} in the end."""
    folds, mark = _folds(folder, quick)
    kept = Checkpoint(f"rna-{mark}")
    whole = [(name, grouping, fold) for name, grouping in wanted for fold in FOLDS]
    for number, one in enumerate(whole, start=1):
        if _key(*one) in kept:
            continue
        begun = time.perf_counter()
        said = f"{one[0]} {one[1]}, learning from fold {one[2]} (run {number} of {len(whole)})"
        for step in _learning(folds, *one):
            if isinstance(step, dict):
                kept.keep(_key(*one), step)
            else:
                yield f"{said}: step {step} after {in_time(time.perf_counter() - begun)}"
    return {_key(*one): kept[_key(*one)] for one in whole}


def _learning(folds: dict[str, Fold], name: str, grouping: str, fold: str) -> Iterator[Any]:
    """The numbers of the steps, then the finished run as plain data."""
    loss = build_rna(*folds[fold])
    groups = _groups(loss, grouping)
    learner = STRATEGIES[name]
    options = complete(learner.options, {})
    holdout = [_halves(loss, folds[fold])] if learner.holds_out else None
    last = None
    for last in learner.make(PenaltyProblem(loss, groups, holdout=holdout), options):
        yield last.number
    assert last is not None  # a learner reports at least its start
    test_letters, test_structures = folds[FOLDS[1 - FOLDS.index(fold)]]
    X = pd.DataFrame({"letters": test_letters})
    folder = RnaFolder().take(loss, last.w, {}, groups)
    at_limit = last.switched_off if last.at_bound is None else last.at_bound
    yield {
        "pairs": folder.pair_counts(X, test_structures)[:, :-1].sum(axis=0).tolist(),
        "log_loss": float(folder.log_losses(X, test_structures).sum()),
        "penalties": dict(zip(MOTIFS, last.C.tolist(), strict=True))
        if grouping == "grouped"
        else {},
        "at_limit": [m for m, at in zip(MOTIFS, at_limit, strict=True) if at]
        if grouping == "grouped"
        else [],
        "steps": last.number,
    }


def _groups(loss: RnaLoss, grouping: str) -> np.ndarray:
    if grouping == "single":
        return np.zeros(loss.size, dtype=np.intp)
    if grouping == "separate":
        return np.arange(loss.size)
    return np.array([MOTIFS.index(source) for source in loss.sources])


def _halves(loss: RnaLoss, fold: Fold) -> tuple[RnaLoss, RnaLoss]:
    held = np.arange(len(fold[0])) % HELD == HELD - 1
    fit, out = (
        loss.on(*([one for one, here in zip(part, chosen, strict=True) if here] for part in fold))
        for chosen in (~held, held)
    )
    return fit, out


def _folds(folder: Path | None, quick: bool) -> tuple[dict[str, Fold], str]:
    """Letters and structures of the folds, and a mark of what they are."""
    path = None if folder is None else folder / FILE
    if path is None or not path.is_file():
        raise UnusableError(
            "the file with the molecules is not there",
            where=f"--data {folder}" if folder else "--data",
            cure=f"give the folder that holds {FILE}",
        )
    dataset = read_dataset(str(path))
    assert dataset.row_names is not None
    assert dataset.table is not None
    folds: dict[str, Fold] = {}
    for fold in FOLDS:
        rows = [row for row, name in enumerate(dataset.row_names) if str(name).endswith(f"_{fold}")]
        letters = dataset.table.iloc[rows, 0].tolist()
        structures = dataset.target[rows].tolist()
        if quick:
            short = [k for k, one in enumerate(letters) if len(one) <= QUICK_BASES]
            letters, structures = (
                [part[k] for k in short[:QUICK_MOLECULES]] for part in (letters, structures)
            )
        folds[fold] = letters, structures
    mark = hashlib.sha256(repr(folds).encode()).hexdigest()[:12]
    return folds, f"quick-{mark}" if quick else mark


def _key(name: str, grouping: str, fold: str) -> str:
    return f"{name} {grouping} {fold}"
