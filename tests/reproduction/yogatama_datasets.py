"""The stream of datasets of Yogatama & Mann 2014 (§4.1, §4.4): read, perturbed and split once.

Without a folder they are samples. A copy lacks 10 to 50 % of its features or instances, equally
often; the paper does not say.
"""

from __future__ import annotations

import csv
import math
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.dataset import Dataset
from core.datasets.preparation import preparation
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.datasets.samples import SAMPLES, Sample
from core.datasets.task import CLASSIFICATION_TASKS, Task
from core.errors import UnusableError
from core.samplers.transfer.history import Statistics
from core.tuning.problem import take_rows

MAX_ROWS, MAX_FEATURES = 40_000, 300  # fewer training instances and features than these (§4.1)
MANIFEST = "MANIFEST.csv"  # optional in a folder: columns name, files (between semicolons), task
GENERATED = 12  # datasets, where no folder is given

_PACKED = re.compile(r"\.(gz|bz2|xz|zip)$")
_TEST = re.compile(r"\.t(?=\.|$)")
_TABLE = re.compile(r"\.(csv|tsv|txt|libsvm|svm|svmlight|scale)$|_scale$")


@dataclass(frozen=True)
class PaperDataset:
    name: str
    file: str  # a path, ``sample:NAME`` or ``generated:NUMBER``
    test_file: str = ""  # the official test set; "" without one
    task: str = ""  # binary or multiclass; "" to detect it


@dataclass(frozen=True)
class AvailableDatasets:
    """Usable datasets by name, and a remark for every other file."""

    sources: tuple[PaperDataset, ...]
    fingerprints: tuple[str, ...]  # of their files
    sizes: tuple[int, ...]  # training and development rows
    remarks: tuple[str, ...]


def available_datasets(folder: Path | None) -> AvailableDatasets:
    """The classification datasets of a folder, or the samples and generated ones."""
    if folder is not None and not folder.is_dir():
        raise UnusableError(
            "there is no such folder", where=f"--data {folder}", cure="give the folder of datasets"
        )
    sources, fingerprints, sizes, remarks = [], [], [], []
    for source in _candidates(folder):
        try:
            dataset = read_source(source)
        except UnusableError as error:
            remarks.append(f"{source.name} is left out: {error}")
            continue
        if not dataset.task.is_classification:
            continue
        rows, features = dataset.features.shape
        if rows >= MAX_ROWS or features >= MAX_FEATURES:
            remarks.append(
                f"{source.name} is left out: {rows:,} rows and {features:,} features, the paper "
                f"has fewer than {MAX_ROWS:,} and {MAX_FEATURES}."
            )
            continue
        sources.append(source)
        fingerprints.append(dataset.source.fingerprint)
        sizes.append(rows)
    if not sources:
        raise UnusableError(
            "there is no table with classes of a size that the paper had",
            where=f"--data {folder}",
            cure="give a folder with CSV or LIBSVM files",
        )
    if folder is None:
        remarks.append(
            "No folder was given: these are the program's samples and generated datasets, not the "
            "paper's; with --data DIR the classification files of DIR are taken."
        )
    return AvailableDatasets(tuple(sources), tuple(fingerprints), tuple(sizes), tuple(remarks))


@cache
def read_source(source: PaperDataset) -> Dataset:
    """The dataset, read once a process."""
    if source.file.startswith("generated:"):
        return _generated(int(source.file.removeprefix("generated:")))
    return read_dataset(source.file, DataOptions(task=source.task), test_file=source.test_file)


def _candidates(folder: Path | None) -> Iterator[PaperDataset]:
    if folder is None:
        for sample in SAMPLES.values():
            if sample.task.is_classification:
                yield PaperDataset(sample.name, f"sample:{sample.name}")
        for number in range(GENERATED):
            yield PaperDataset(f"generated {number + 1}", f"generated:{number}")
        return
    listed = _manifest_datasets(folder)
    yield from _in_folder(folder) if listed is None else listed


def _manifest_datasets(folder: Path) -> list[PaperDataset] | None:
    """Datasets of the folder's manifest; None without one."""
    path = folder / MANIFEST
    if not path.is_file():
        return None
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows or not {"name", "files", "task"} <= rows[0].keys():
        return None
    sources = []
    for row in rows:
        if row["task"] not in CLASSIFICATION_TASKS:
            continue
        files = [folder / file_name.strip() for file_name in row["files"].split(";")]
        tests = [str(file) for file in files if _TEST.search(file.name)]
        sources.append(PaperDataset(row["name"], str(files[0]), "".join(tests[:1]), row["task"]))
    return sources


def _in_folder(folder: Path) -> Iterator[PaperDataset]:
    files = sorted(path for path in folder.iterdir() if path.is_file())
    # X.t.csv is the test set of X.csv.
    tests = {_bare_name(path.name): path for path in files if _TEST.search(path.name)}
    for path in files:
        if path.name == MANIFEST or _TEST.search(path.name):
            continue
        name = _bare_name(path.name)
        yield PaperDataset(_TABLE.sub("", name), str(path), str(tests.get(name, "")))


def _bare_name(name: str) -> str:
    return _TEST.sub("", _PACKED.sub("", name))


def _generated(number: int) -> Dataset:
    """Gaussian clouds of 2 to 5 classes; half of the features are informative."""
    classes = 2 + number % 4

    def make_table() -> pd.DataFrame:
        rng = np.random.default_rng([2014, number])
        rows, width = int(rng.integers(150, 900)), int(rng.integers(4, 41))
        label = rng.integers(0, classes, rows)
        centres = rng.standard_normal((classes, width))
        centres[:, width // 2 :] = 0.0
        spread = rng.uniform(1.0, 3.0)
        values = centres[label] + spread * rng.standard_normal((rows, width))
        values[:, 0] **= 2  # not everything is linear
        frame = pd.DataFrame(values.round(4), columns=[f"x{j + 1}" for j in range(width)])
        frame["class"] = pd.Series([f"c{k}" for k in label], dtype="str")
        return frame

    task = Task.BINARY if classes == 2 else Task.MULTICLASS
    return Sample(f"generated {number + 1}", task, "class", make_table, "", "").read()


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
    kind: str  # features or instances
    share: float


def perturbation(arrival: StreamedDataset, features: int = 2) -> Perturbation:
    """What the copy lacks; never its only feature."""
    rng = _random_generator(arrival, "perturbation")
    share, features_go = float(rng.uniform(*SHARES)), bool(rng.random() < 0.5)
    return Perturbation("features" if features_go and features > 1 else "instances", share)


def perturb_dataset(dataset: Dataset, arrival: StreamedDataset) -> Dataset:
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
    """The dataset, split and prepared."""
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
