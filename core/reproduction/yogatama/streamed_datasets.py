"""A dataset as it arrives: whole or perturbed, split once, prepared once a process.

Yogatama & Mann 2014, §4.1 and §4.4: training, development and blind test rows; a perturbed copy
lacks features or instances. The paper does not say how many; here it is one of the two, by the toss
of a coin, and a share between 10 and 50 %.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from core.datasets.dataset import Dataset
from core.datasets.preparation import preparation
from core.datasets.task import Task
from core.reproduction.yogatama.paper_datasets import PaperDataset, read_source
from core.samplers.transfer.history import Statistics
from core.tuning.problem import take_rows

SEED = 2014  # of splits and perturbations: the same in every run
SHARES = (0.1, 0.5)
TRAIN, DEVELOPMENT, TEST = 0, 1, 2
DEAL = (TRAIN, DEVELOPMENT, TRAIN, TEST, TRAIN)  # 60, 20 and 20 %
DEAL_BESIDE_TEST = (TRAIN, TRAIN, TRAIN, DEVELOPMENT)  # where the test set is a file of its own


@dataclass(frozen=True)
class StreamedDataset:
    """A dataset in the stream: the source's own, number 0, or one of its perturbed copies."""

    source: PaperDataset
    number: int = 0

    @property
    def name(self) -> str:
        """In keys and sentences."""
        return f"{self.source.name}/{self.number}" if self.number else self.source.name


@dataclass(frozen=True)
class Examples:
    """Prepared rows, shape (n, p), and the codes of their classes, shape (n,)."""

    X: np.ndarray
    y: np.ndarray


@dataclass(frozen=True)
class SplitDataset:
    """A dataset in three parts, columns standardized by the training rows.

    Attributes:
        train: what models are fitted on.
        development: its accuracy is what a method is told.
        test: its accuracy is told to nobody until a method has ended.
        statistics: log training rows, log features, classes.
    """

    train: Examples
    development: Examples
    test: Examples
    task: Task
    statistics: Statistics


@dataclass(frozen=True)
class Perturbation:
    """What a copy lacks: a share of its features, or of its instances."""

    kind: str
    share: float


def perturbation(arrival: StreamedDataset, features: int = 2) -> Perturbation:
    """What the copy lacks; it depends on the name and the number alone.

    A single feature is never taken away.
    """
    rng = _random_generator(arrival, "perturbation")
    share, features_go = float(rng.uniform(*SHARES)), bool(rng.random() < 0.5)
    return Perturbation("features" if features_go and features > 1 else "instances", share)


def perturb_dataset(dataset: Dataset, arrival: StreamedDataset) -> Dataset:
    """The dataset without the share of its features or (training) instances, drawn evenly."""
    rows, width = dataset.features.shape
    lacks = perturbation(arrival, width)
    rng = _random_generator(arrival, "what is dropped")
    if lacks.kind == "instances":
        stay = _remaining_indices(rows, lacks.share, rng)
        return replace(_of_rows(dataset, stay), test=dataset.test)
    stay = _remaining_indices(width, lacks.share, rng)
    test = None if dataset.test is None else _of_features(dataset.test, stay)
    return replace(_of_features(dataset, stay), test=test)


def _remaining_indices(count: int, share: float, rng: np.random.Generator) -> np.ndarray:
    gone = min(round(share * count), count - 1)
    return np.sort(rng.permutation(count)[gone:])


def _of_rows(dataset: Dataset, rows: np.ndarray) -> Dataset:
    return replace(
        dataset,
        table=None if dataset.table is None else dataset.table.iloc[rows].reset_index(drop=True),
        matrix=None if dataset.matrix is None else dataset.matrix[rows],
        target=dataset.target[rows],
        row_groups=None,
    )


def _of_features(dataset: Dataset, features: np.ndarray) -> Dataset:
    return replace(
        dataset,
        table=None if dataset.table is None else dataset.table.iloc[:, features],
        matrix=None if dataset.matrix is None else dataset.matrix[:, features],
    )


@cache
def split_dataset(arrival: StreamedDataset) -> SplitDataset:
    """The arrival, split and prepared.

    Raises:
        UnusableError: the file is unusable.
    """
    dataset = read_source(arrival.source)
    if arrival.number:
        dataset = perturb_dataset(dataset, arrival)
    beside = dataset.test
    labels = [dataset.target] if beside is None else [dataset.target, beside.target]
    classes, codes = np.unique(np.concatenate(labels), return_inverse=True)
    deal = DEAL if beside is None else DEAL_BESIDE_TEST
    split_codes = deal_rows(codes[: dataset.rows], deal, _random_generator(arrival, "deal"))
    train_features = take_rows(dataset.features, np.flatnonzero(split_codes == TRAIN))
    prepare = preparation(dataset, scale=True, sparse_ok=False).fit(train_features)

    def prepared(features: Any, y: np.ndarray) -> Examples:
        return Examples(np.ascontiguousarray(prepare.transform(features), dtype=np.float64), y)

    def split_examples(which: int) -> Examples:
        chosen = np.flatnonzero(split_codes == which)
        return prepared(take_rows(dataset.features, chosen), codes[chosen])

    train = split_examples(TRAIN)
    test = prepared(beside.features, codes[dataset.rows :]) if beside else split_examples(TEST)
    width = dataset.features.shape[1]
    statistics = (math.log(len(train.y)), math.log(width), float(len(classes)))
    task = Task.BINARY if len(classes) == 2 else Task.MULTICLASS
    return SplitDataset(train, split_examples(DEVELOPMENT), test, task, statistics)


def deal_rows(codes: np.ndarray, deal: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """The part of every row: each class is dealt out like cards, so that its shares are kept.

    Classes with very few rows may be missing from a part; rows of a class that training lacks count
    as wrong, as they would in use.
    """
    shuffled = rng.permutation(len(codes))
    in_order = shuffled[np.argsort(codes[shuffled], kind="stable")]
    split_codes = np.empty(len(codes), dtype=np.intp)
    split_codes[in_order] = np.resize(deal, len(codes))
    return split_codes


def _random_generator(arrival: StreamedDataset, purpose: str) -> np.random.Generator:
    return np.random.default_rng([SEED, zlib.crc32(f"{arrival.name}: {purpose}".encode())])
