"""The table of bench_best_model.py: what every peer scored, mean ranks and shortfalls."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from best_model_files import HELD_OUT
from scipy.stats import rankdata


@dataclass(frozen=True)
class Result:
    """What a peer scored on a split.

    Attributes:
        minutes: that it was given; None where it takes what it needs.
        nothing: what knowing nothing scores.
        cpu: seconds of the processor; of ours without those of its trials' processes.
        load: processes that wanted to run when it ended (the mean of a minute).
        detail: what it chose.
        failure: why it has no score; "" if it has.
    """

    file: str
    split: int
    peer: str
    minutes: float | None
    task: str
    nothing: float
    score: float | None = None
    seconds: float = 0.0
    cpu: float = 0.0
    load: float = 0.0
    clock: str = "wall"
    detail: str = ""
    failure: str = ""

    @property
    def key(self) -> tuple[str, int, str, float | None]:
        """What it is known by."""
        return self.file, self.split, self.peer, self.minutes

    @property
    def counted(self) -> float:
        """The score that is compared."""
        return self.nothing if self.score is None else self.score


Results = dict[tuple[str, int, str, float | None], Result]


def kept(file: Path | None) -> Results:
    """The results of earlier runs; of two for the same the later one counts."""
    if file is None or not file.exists():
        return {}
    found = (Result(**json.loads(line)) for line in file.read_text().splitlines() if line.strip())
    return {one.key: one for one in found}


def line(rows: list[Result], peers: list[str]) -> str:
    """A table's line of one split."""
    by_peer = {one.peer: one for one in rows}
    first = rows[0]
    best = max((one.counted for one in rows if one.score is not None), default=np.nan)
    cells = []
    for peer in peers:
        one = by_peer.get(peer)
        text = "·" if one is None else "fails" if one.score is None else f"{one.score:.4f}"
        cells.append(text + ("+" if one and one.score == best else " "))
    name = first.file + "*" * (first.file in HELD_OUT)
    kind = "R²" if first.task == "regression" else "acc"
    return f"{name:22s} {first.split} {kind:3s} {first.nothing:8.4f} " + " ".join(
        f"{cell:>10s}" for cell in cells
    )


def summary(rows: list[list[Result]], peers: list[str], title: str) -> None:
    """Mean ranks and shortfalls over the splits that all peers have measured."""
    whole = [row for row in rows if {one.peer for one in row} >= set(peers)]
    if not whole:
        return
    by_peer = [[next(one for one in row if one.peer == peer) for peer in peers] for row in whole]
    scores = np.array([[one.counted for one in row] for row in by_peer])
    failed = np.array([[one.score is None for one in row] for row in by_peer])
    ranks = rankdata(np.where(failed, np.inf, -scores), axis=1)
    short = scores.max(axis=1, keepdims=True) - scores
    numbers = np.array([row[0].task == "regression" for row in by_peer])
    nothing = np.array([row[0].nothing for row in by_peer])
    behind = (scores < nothing[:, None] - 1e-9).sum(axis=0)
    seconds = [np.mean([row[at].seconds for row in by_peer]) for at in range(len(peers))]
    left_out = len(rows) - len(whole)
    print(f"\n{title}: {len(whole)} splits" + (f", {left_out} incomplete" * (left_out > 0)))
    print(f"{'':12s} {'rank':>6s} {'short of best':>22s} {'behind':>9s} {'fails':>6s} {'s':>7s}")
    print(f"{'':12s} {'':6s} {'points':>11s} {'R²':>10s} {'nothing':>9s}")
    for at in np.argsort(ranks.mean(axis=0)):
        points, r2 = (
            f"{np.mean(part):.4f}" if len(part) else "·"
            for part in (100.0 * short[~numbers, at], short[numbers, at])
        )
        print(
            f"{peers[at]:12s} {ranks[:, at].mean():6.2f} {points:>11s} {r2:>10s}"
            f" {behind[at]:9d} {failed[:, at].sum():6d} {seconds[at]:7.1f}"
        )


def summaries(rows: list[list[Result]], peers: list[str]) -> None:
    """The table's end: of all files, and of those held out and not where there are both."""
    summary(rows, peers, "all files")
    parts = [[row for row in rows if (row[0].file in HELD_OUT) is held] for held in (False, True)]
    if all(parts):
        summary(parts[0], peers, "files not held out")
        summary(parts[1], peers, "files held out")
    every = [one for row in rows for one in row if one.peer in peers]
    busy = [
        one for one in every if one.minutes and one.clock == "wall" and one.load > os.cpu_count()
    ]
    if busy:
        print(f"\n{len(busy)} searches ended while more processes wanted to run than cores are.")
    for one in every:
        if one.failure:
            print(f"{one.peer} on {one.file}, split {one.split}: {one.failure}")
