"""Datasets in the stream (Yogatama & Mann 2014, §4.1 and §4.4), split and prepared once.

A copy lacks 10 to 50 % of its features or instances, equally often; the paper does not say.
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
    """A dataset (number 0), or a perturbed copy."""

    source: PaperDataset
    number: int = 0

    @property
    def name(self) -> str:
        """In keys and sentences."""
        return f"{self.source.name}/{self.number}" if self.number else self.source.name


@dataclass(frozen=True)
class Examples:
    """Prepared rows, (n, p), and class codes, (n,)."""

    X: np.ndarray
    y: np.ndarray


@dataclass(frozen=True)
class SplitDataset:
    """A dataset in three parts, standardized by training rows."""

    train: Examples
    development: Examples  # its accuracy is the score
    test: Examples  # scored once, after the last trial
    task: Task
    statistics: Statistics  # log training rows, log features, classes


@dataclass(frozen=True)
class Perturbation:
    """The share of features or instances that a copy lacks."""

    kind: str  # features or instances
    share: float


def perturbation(arrival: StreamedDataset, features: int = 2) -> Perturbation:
    """What the copy lacks; never its only feature."""
    rng = _random_generator(arrival, "perturbation")
    share, features_go = float(rng.uniform(*SHARES)), bool(rng.random() < 0.5)
    return Perturbation("features" if features_go and features > 1 else "instances", share)


def perturb_dataset(dataset: Dataset, arrival: StreamedDataset) -> Dataset:
    """The dataset without a share of features or training instances."""
    rows, width = dataset.features.shape
    lacks = perturbation(arrival, width)
    rng = _random_generator(arrival, "what is dropped")
    if lacks.kind == "instances":
        indices = _remaining_indices(rows, lacks.share, rng)
        return replace(_of_rows(dataset, indices), test=dataset.test)
    indices = _remaining_indices(width, lacks.share, rng)
    test = None if dataset.test is None else _of_features(dataset.test, indices)
    return replace(_of_features(dataset, indices), test=test)


def _remaining_indices(count: int, share: float, rng: np.random.Generator) -> np.ndarray:
    drop_count = min(round(share * count), count - 1)
    return np.sort(rng.permutation(count)[drop_count:])


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
    """The dataset, split and prepared.

    Raises:
        UnusableError: the file is unusable.
    """
    dataset = read_source(arrival.source)
    if arrival.number:
        dataset = perturb_dataset(dataset, arrival)
    test_set = dataset.test
    labels = [dataset.target] if test_set is None else [dataset.target, test_set.target]
    classes, codes = np.unique(np.concatenate(labels), return_inverse=True)
    deal = DEAL if test_set is None else DEAL_BESIDE_TEST
    split_codes = deal_rows(codes[: dataset.rows], deal, _random_generator(arrival, "deal"))
    train_features = take_rows(dataset.features, np.flatnonzero(split_codes == TRAIN))
    prepare = preparation(dataset, scale=True, sparse_ok=False, categories="levels")
    prepare.fit(train_features)

    def prepared(features: Any, y: np.ndarray) -> Examples:
        return Examples(np.ascontiguousarray(prepare.transform(features), dtype=np.float64), y)

    def split_examples(which: int) -> Examples:
        chosen = np.flatnonzero(split_codes == which)
        return prepared(take_rows(dataset.features, chosen), codes[chosen])

    train = split_examples(TRAIN)
    test = prepared(test_set.features, codes[dataset.rows :]) if test_set else split_examples(TEST)
    width = dataset.features.shape[1]
    statistics = (math.log(len(train.y)), math.log(width), float(len(classes)))
    task = Task.BINARY if len(classes) == 2 else Task.MULTICLASS
    return SplitDataset(train, split_examples(DEVELOPMENT), test, task, statistics)


def deal_rows(codes: np.ndarray, deal: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """The part of every row, dealt out class by class to preserve shares."""
    shuffled = rng.permutation(len(codes))
    # Rare classes may be missing from a part; rows of a class without training rows count as wrong.
    in_order = shuffled[np.argsort(codes[shuffled], kind="stable")]
    split_codes = np.empty(len(codes), dtype=np.intp)
    split_codes[in_order] = np.resize(deal, len(codes))
    return split_codes


def _random_generator(arrival: StreamedDataset, purpose: str) -> np.random.Generator:
    return np.random.default_rng([SEED, zlib.crc32(f"{arrival.name}: {purpose}".encode())])
