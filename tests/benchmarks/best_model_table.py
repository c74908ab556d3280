"""The results of bench_best_model.py: what predictions score, and the tables that compare them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from best_model_files import HELD_OUT, Split
from best_model_peers import PROBABILITY
from scipy.stats import wilcoxon
from sklearn.metrics import r2_score, roc_auc_score

MEASURES = {"accuracy": 1, "AUC": 1, "log loss": -1, "R²": 1}  # −1 where less is better
NUMBER = re.compile(r"[-+]?\d+\.?\d*")
MIN_PROBABILITY = 1e-6  # a class that is called impossible and comes costs 13.8
MIN_R2 = -1.0  # in means: R² has no lower bound, and a table would outweigh the others


@dataclass(frozen=True)
class Result:
    """What a peer scored on a split.

    Attributes:
        minutes: that it was given; None where it takes what it needs.
        baseline: what the most frequent class, the shares of the classes or the mean score.
        scores: by measure; one that is not there counts as the baseline's.
        memory: the most that all its processes had at a time, in bytes, shared pages once.
        load: processes that wanted to run when it ended (the mean of a minute).
        detail: what it chose.
        failure: why it has no scores; "" if it has.
    """

    file: str
    split: int
    peer: str
    minutes: float | None
    threads: int
    baseline: dict[str, float]
    scores: dict[str, float]
    seconds: float = 0.0
    memory: int = 0
    load: float = 0.0
    version: str = ""
    detail: str = ""
    failure: str = ""

    @property
    def key(self) -> tuple[Any, ...]:
        """What it is known by."""
        return self.file, self.split, self.peer, self.minutes, self.threads


def read_results(path: Path | None) -> dict[tuple[Any, ...], Result]:
    """The results of earlier runs; of two for the same the later one counts."""
    lines = path.read_text().splitlines() if path and path.exists() else []
    results = [Result(**json.loads(line)) for line in lines if line.strip()]
    return {result.key: result for result in results}


# Scores -------------------------------------------------------------------------------------------


def scores_of(split: Split, predictions: pd.DataFrame) -> dict[str, float]:
    """What predictions of the fresh rows score, by measure, without what is no number."""
    if split.task == "regression":
        return {"R²": float(r2_score(split.y_fresh, predictions["prediction"]))}
    y = class_names(split.y_fresh)
    scores = {"accuracy": np.mean(class_names(predictions["prediction"]) == y)}
    columns = [name for name in predictions if name.startswith(PROBABILITY)]
    if columns:
        labels = class_names(name.removeprefix(PROBABILITY) for name in columns)
        columns_by_label = dict(zip(labels, predictions[columns].to_numpy(float).T, strict=True))
        none = np.zeros(len(y))  # for a class that no row trains
        truth = [columns_by_label.get(label, none)[row] for row, label in enumerate(y)]
        scores["log loss"] = -np.mean(np.log(np.clip(truth, MIN_PROBABILITY, 1.0)))
        areas = [roc_auc_score(y == name, columns_by_label.get(name, none)) for name in set(y)]
        scores["AUC"] = np.mean(areas)
    return {name: float(score) for name, score in scores.items() if np.isfinite(score)}


def baseline_scores(split: Split) -> dict[str, float]:
    """What the mean, or the most frequent class and the shares of all, score."""
    if split.task == "regression":
        columns: dict[str, Any] = {"prediction": split.y_train.mean()}
    else:
        labels, counts = np.unique(split.y_train, return_counts=True)
        shares = zip(labels, counts / counts.sum(), strict=True)
        columns = {f"{PROBABILITY}{label}": share for label, share in shares}
        columns["prediction"] = labels[counts.argmax()]
    return scores_of(split, pd.DataFrame(columns, index=range(len(split.y_fresh))))


def class_names(labels: Iterable[Any]) -> np.ndarray:
    """Classes as texts that are equal where the classes are: 1, 1.0 and +1."""
    names = [str(label).strip() for label in labels]
    return np.array([str(float(name)) if NUMBER.fullmatch(name) else name for name in names])


# Tables -------------------------------------------------------------------------------------------


def split_line(results: list[Result]) -> str:
    """A line of one split: accuracy or R² of each."""
    first, measure = results[0], "R²" if "R²" in results[0].baseline else "accuracy"
    scores = {result.peer: result.scores.get(measure) for result in results}
    best = max((score for score in scores.values() if score is not None), default=None)
    cells = []
    for peer, score in scores.items():
        cell = "fails " if score is None else f"{score:.4f}{'+' if score == best else ' '}"
        cells.append(f"{cell:>{max(9, len(peer) + 1)}s}")
    name = first.file + "*" * (first.file in HELD_OUT)
    return f"{name:22s} {first.split} {measure:8s} {first.baseline[measure]:8.4f} " + " ".join(
        cells
    )


def table_means(results: list[Result], peers: list[str], measure: str) -> pd.DataFrame:
    """The mean over the splits that all have, (tables, peers); more is better."""
    values = [
        (result.file, result.split, result.peer, result.scores.get(measure, baseline))
        for result in results
        if (baseline := result.baseline.get(measure)) is not None
    ]
    frame = pd.DataFrame(values, columns=["file", "split", "peer", "score"])
    frame = frame.pivot(index=["file", "split"], columns="peer", values="score")
    scores = frame.reindex(columns=peers).dropna().clip(lower=MIN_R2)
    return MEASURES[measure] * scores.groupby("file").mean().round(9)


def comparison(results: list[Result], peers: list[str], title: str) -> list[str]:
    """Markdown: ranks, shortfalls and costs of all, and the first of them against each other."""
    costs = pd.DataFrame([vars(result) for result in results]).groupby("peer")
    peers = [peer for peer in peers if peer in costs.groups]
    means = {measure: table_means(results, peers, measure) for measure in MEASURES}
    means = {measure: frame for measure, frame in means.items() if len(frame)}
    head, rows, pair_rows = [""], [[peer] for peer in peers], [[peer] for peer in peers[1:]]
    for measure, frame in means.items():
        head += [f"{measure}: rank ({len(frame)} tables)", "short of best"]
        ranks = frame.rank(axis=1, ascending=False).mean()
        shortfalls = frame.rsub(frame.max(axis=1), axis=0).mean()
        for row in rows:
            row += [f"{ranks[row[0]]:.2f}", f"{shortfalls[row[0]]:.4f}"]
        for row in pair_rows:
            row.append(_pair_text(frame[peers[0]] - frame[row[0]]))
    for row in rows:
        cost = costs.get_group(row[0])
        seconds, memory = cost["seconds"], cost["memory"].max() / 1e9
        row += [f"{seconds.mean():.0f} ({seconds.max():.0f})", f"{memory:.1f}"]
        row.append(str((cost["failure"] != "").sum()))
    return [
        f"### {title}",
        "",
        *_markdown([*head, "seconds (most)", "most GB", "fails"], rows),
        "",
        f"{peers[0]} against each: tables won : lost, p of Wilcoxon's signed ranks, mean "
        "difference, the worst table (more is better, of log loss as well).",
        "",
        *_markdown([f"{peers[0]} against", *means], pair_rows),
    ]


def _pair_text(differences: pd.Series) -> str:
    p = wilcoxon(differences).pvalue if differences.any() else 1.0
    won, lost = (differences > 0).sum(), (differences < 0).sum()
    return f"{won} : {lost}, p {p:.3f}, {differences.mean():+.4f}, {differences.min():+.4f}"


def score_tables(results: list[Result], peers: list[str]) -> list[str]:
    """Markdown: every measure of every table, the best of each bold."""
    lines = []
    for measure, sign in MEASURES.items():
        rows = []
        for name, scores in table_means(results, peers, measure).iterrows():
            bold = ["**" if score == scores.max() else "" for score in scores]
            cells = [f"{b}{sign * score:.4f}{b}" for b, score in zip(bold, scores, strict=True)]
            rows.append([name + r"\*" * (name in HELD_OUT), *cells])
        if rows:
            lines += [f"### {measure[:1].upper()}{measure[1:]}", ""]
            lines += [*_markdown(["", *peers], rows), ""]
    return lines


def _markdown(head: list[str], rows: list[list[str]]) -> list[str]:
    align = ["---", *["---:"] * (len(head) - 1)]
    return [f"| {' | '.join(cells)} |" for cells in (head, align, *rows)]


def comparisons(results: list[Result], peers: list[str]) -> list[str]:
    """Markdown of all tables, of those held out and not where there are both, and what failed."""
    lines = comparison(results, peers, "All tables")
    parts = [[r for r in results if (r.file in HELD_OUT) is is_held] for is_held in (False, True)]
    if all(parts):
        for part, title in zip(parts, ("Tables not held out", "Tables held out"), strict=True):
            lines += ["", *comparison(part, peers, title)]
    usual_load = (os.cpu_count() or 1) + 1.0  # with the searches' own processes
    busy = sum(bool(result.minutes) and result.load > usual_load for result in results)
    if busy:
        lines += ["", f"{busy} searches ended while more processes wanted to run than cores."]
    failed = [result for result in results if result.failure]
    failures = [f"- {r.peer} on {r.file}, split {r.split}: {r.failure}" for r in failed]
    return [*lines, "", *failures]
