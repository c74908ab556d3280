"""Two-fold RNA folding: figure 3 of Do 2008, tables 3b and 4 of Foo 2009."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path

import numpy as np
import pandas as pd

from core.datasets.reading import read_dataset
from core.errors import UnusableError
from core.estimators.structured.rna_folder import RnaFolder
from core.json_reading import read_as
from core.losses.rna.pair_scores import roc_area
from core.losses.rna.parameters import MOTIFS
from core.losses.rna.rna_loss import RnaLoss, build_rna
from core.penalties.penalty_problem import PenaltyProblem
from core.records import Record, to_plain
from core.tuning.strategies.registry import STRATEGIES
from core.wording import duration_text
from tests.reproduction.kept_work import Checkpoint
from tests.reproduction.tables import Cells, printed_figures

FILE = "rna_s151rfam.csv"
FOLDS = ("A", "B")
GROUPINGS = ("single", "grouped", "separate")  # the dearest last
HELD = 3  # every third molecule of a fold is held out for the implicit gradient
QUICK_MOLECULES, QUICK_BASES = 20, 100  # of a fold: so many, none longer

Fold = tuple[list[str], list[str]]  # letters and structures
Parts = Iterator[Cells | str]


@dataclass(frozen=True)
class FoldRun(Record):
    """A learner trained on one fold, tested on the other."""

    pairs: list[list[float]]  # as `RnaFolder.pair_counts`, summed over molecules
    log_loss: float  # summed over molecules
    penalties: dict[str, float]  # by motif, for the grouping by motifs alone
    at_limit: list[str]  # motifs with a penalty at a limit
    steps: int


Runs = dict[str, FoldRun]  # by `_run_key`


def figure3_rows(folder: Path | None, quick: bool) -> Parts:
    """Implicit gradient: ROC area, test log loss and penalties."""
    wanted = [("gradient", grouping) for grouping in GROUPINGS]
    runs = yield from _measure_runs(folder, quick, wanted)
    for grouping in GROUPINGS:
        area, loss = _test_scores(runs, "gradient", grouping)
        yield {
            "": grouping,
            "ROC area (paper)": printed_figures("do-figure3-area")[grouping],
            "ROC area": area,
            "log loss (paper)": printed_figures("do-figure3-loss")[grouping],
            "log loss": loss,
        }
    yield from _penalties(runs, "gradient", printed_figures("do-figure3"))


def table3b_rows(folder: Path | None, quick: bool) -> Parts:
    """MM: the learned penalty of every motif, by fold."""
    runs = yield from _measure_runs(folder, quick, [("mm", "grouped")])
    printed = {name: figures[2:] for name, figures in printed_figures("foo-table3b").items()}
    yield from _penalties(runs, "mm", printed)


def table4_rows(folder: Path | None, quick: bool) -> Parts:
    """ROC area and test log loss by method and grouping."""
    names, printed = ("gradient", "direct", "mm"), printed_figures("foo-table4")
    wanted = [(name, grouping) for grouping in printed for name in names]
    runs = yield from _measure_runs(folder, quick, wanted)
    for grouping, figures in printed.items():
        cells: dict[str, object] = {"": grouping}
        for name in names:
            area, loss = _test_scores(runs, name, grouping)
            cells |= {f"{name} (paper)": figures[name], name: area, f"{name} log loss": loss}
        yield cells


def _penalties(runs: Runs, name: str, printed: Mapping[str, Sequence[object]]) -> Iterator[Cells]:
    for motif in MOTIFS:
        cells: dict[str, object] = {"": motif}
        for fold, figure in zip(FOLDS, printed[motif], strict=True):
            run = runs[_run_key(name, "grouped", fold)]
            shown = f"{run.penalties[motif]:.4g}" + (" (limit)" if motif in run.at_limit else "")
            cells |= {f"fold {fold} (paper)": figure, f"fold {fold}": shown}
        yield cells


def _test_scores(runs: Runs, name: str, grouping: str) -> tuple[float, float]:
    """ROC area over both folds, and summed log loss."""
    fold_runs = [runs[_run_key(name, grouping, fold)] for fold in FOLDS]
    pairs = np.sum([run.pairs for run in fold_runs], axis=0)
    return round(roc_area(pairs), 4), round(sum(run.log_loss for run in fold_runs), 1)


def _measure_runs(
    folder: Path | None, quick: bool, wanted: list[tuple[str, str]]
) -> Generator[str, None, Runs]:
    folds, mark = _read_folds(folder, quick)
    checkpoint = Checkpoint(f"rna-{mark}")
    all_runs = [(name, grouping, fold) for name, grouping in wanted for fold in FOLDS]
    for number, run in enumerate(all_runs, start=1):
        if _run_key(*run) in checkpoint:
            continue
        start = time.perf_counter()
        count_text = f"run {number} of {len(all_runs)}"
        run_text = f"{run[0]} {run[1]}, learning from fold {run[2]} ({count_text})"
        for step in _learning(folds, *run):
            if isinstance(step, FoldRun):
                checkpoint.record_result(_run_key(*run), to_plain(step))
            else:
                yield f"{run_text}: step {step} after {duration_text(time.perf_counter() - start)}"
    return {_run_key(*run): read_as(FoldRun, checkpoint[_run_key(*run)]) for run in all_runs}


def _learning(
    folds: dict[str, Fold], name: str, grouping: str, fold: str
) -> Iterator[int | FoldRun]:
    """The numbers of the steps, then the finished run."""
    loss = build_rna(*folds[fold])
    groups = _penalty_groups(loss, grouping)
    learner = STRATEGIES[name]
    holdout = [_holdout_split(loss, folds[fold])] if learner.holds_out else None
    problem = PenaltyProblem(loss, groups, holdout=holdout)
    last = None
    for last in learner.make(problem, learner.option_values({})):
        yield last.number
    assert last is not None  # a learner reports at least its start
    test_letters, test_structures = folds[FOLDS[1 - FOLDS.index(fold)]]
    X = pd.DataFrame({"letters": test_letters})
    folder = RnaFolder().set_weights(loss, last.w, {}, groups)
    at_limit = last.switched_off if last.at_bound is None else last.at_bound
    of_motifs = grouping == "grouped"
    limits = zip(MOTIFS, at_limit, strict=True) if of_motifs else ()
    yield FoldRun(
        pairs=folder.pair_counts(X, test_structures)[:, :-1].sum(axis=0).tolist(),
        log_loss=float(folder.log_losses(X, test_structures).sum()),
        penalties=dict(zip(MOTIFS, last.C.tolist(), strict=True)) if of_motifs else {},
        at_limit=[motif for motif, is_limited in limits if is_limited],
        steps=last.number,
    )


def _penalty_groups(loss: RnaLoss, grouping: str) -> np.ndarray:
    if grouping == "single":
        return np.zeros(loss.size, dtype=np.intp)
    if grouping == "separate":
        return np.arange(loss.size)
    return np.array([MOTIFS.index(source) for source in loss.sources])


def _holdout_split(loss: RnaLoss, fold: Fold) -> tuple[RnaLoss, RnaLoss]:
    held = [k % HELD == HELD - 1 for k in range(len(fold[0]))]
    fit = [list(compress(column, (not is_held for is_held in held))) for column in fold]
    return loss.for_data(*fit), loss.for_data(*(list(compress(column, held)) for column in fold))


def _read_folds(folder: Path | None, quick: bool) -> tuple[dict[str, Fold], str]:
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
            short = [k for k, sequence in enumerate(letters) if len(sequence) <= QUICK_BASES]
            letters, structures = (
                [column[k] for k in short[:QUICK_MOLECULES]] for column in (letters, structures)
            )
        folds[fold] = letters, structures
    mark = hashlib.sha256(repr(folds).encode()).hexdigest()[:12]
    return folds, f"quick-{mark}" if quick else mark


def _run_key(name: str, grouping: str, fold: str) -> str:
    return f"{name} {grouping} {fold}"
