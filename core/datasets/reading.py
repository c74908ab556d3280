"""A file becomes a Dataset: CSV, LIBSVM or a sample, told apart by what is in it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from core.datasets.dataset import Dataset
from core.datasets.files import libsvm
from core.datasets.files.csv_table import first_cells, read_csv_table
from core.datasets.files.opening import HEAD_BYTES, check_path, compression_of, read_head
from core.datasets.files.sniffing import MISSING, decode, looks_like_libsvm
from core.datasets.raw_table import NO_CHOICES, Choices, RawTable
from core.datasets.samples.registry import SAMPLES
from core.datasets.splits.units import shared_finding, with_units
from core.datasets.texts.vocabulary import USUAL_RULES, WordRules
from core.datasets.understanding.assembling import assemble, assemble_test, roles_of_rows
from core.datasets.understanding.recognition import STRUCTURED, Shape, confirmed, recognize
from core.datasets.understanding.target import check_task
from core.datasets.understanding.text_table import with_words
from core.errors import UnusableError

_LIBSVM_ENDINGS = (".libsvm", ".svm", ".svmlight")


def read_dataset(
    file: str,
    choices: Choices = NO_CHOICES,
    *,
    test_file: str = "",
    words: WordRules = USUAL_RULES,
) -> Dataset:
    """Read a dataset.

    Args:
        file: a path, or ``sample:NAME``.
        choices: what a person decided.
        test_file: a second file of the same format to test on.
        words: which words of texts count.

    Raises:
        UnusableError: whatever makes the file unusable, in one sentence with place and cure.
    """
    check_task(choices.task)
    if choices.latest and test_file:
        raise UnusableError(
            "the latest rows cannot test where a second file does",
            where=test_file,
            cure="leave out the one or the other",
        )
    if file.startswith("sample:"):
        if test_file:
            raise UnusableError(
                "a sample has no second file", where=test_file, cure="leave the test file out"
            )
        return with_words(_sample(file.removeprefix("sample:"), choices), words)
    path = check_path(file)
    compression = compression_of(path)
    head = read_head(path, compression)
    if _is_libsvm(path, head):
        if choices.task in STRUCTURED:
            raise UnusableError(
                "a LIBSVM file holds neither sequences nor molecules",
                where=path.name,
                cure="give a CSV file, or another task",
            )
        rows = libsvm.read_rows(path, compression, head)
        dataset = libsvm.from_rows(rows, path, compression, choices)
        if choices.latest:
            raise UnusableError(
                "a LIBSVM file has no dates", where=path.name, cure="test on rows drawn at random"
            )
        dataset = with_units(with_words(dataset, words), choices.together)
        return _tested(_with_libsvm_test(dataset, test_file)) if test_file else dataset
    dataset = with_words(_from_csv(path, compression, head, choices), words)
    if not test_file:
        return dataset
    return _tested(replace(dataset, test=_table_test(dataset, test_file)))


def _tested(dataset: Dataset) -> Dataset:
    """The dataset with a second file: which rows are in both, and no proposal to test on others."""
    test = dataset.test
    assert test is not None
    kept = [f for f in dataset.findings if not (f.proposal and "latest" in f.proposal.fields)]
    return replace(dataset, findings=(*kept, *shared_finding(dataset, test)))


def _from_csv(path: Path, compression: str, head: bytes, choices: Choices) -> Dataset:
    """The dataset of a CSV file; its first rows say how the others are to be read."""
    choices = _trimmed(choices)
    target, kinds = choices.target, choices.kinds
    cells = first_cells(head, path.name, complete=len(head) < HEAD_BYTES, wanted=target)
    shape = recognize(cells, target, choices.task, choices.roles)
    read = _read_table(path, compression, head, kinds, shape, target)
    if shape is not None and not confirmed(shape, read.table):
        shape = None
        read = _read_table(path, compression, head, kinds, None, target)
    if shape is None:
        choices = roles_of_rows(cells, choices)
    return assemble(read, shape, choices)


def _trimmed(choices: Choices) -> Choices:
    """The choices for names without blanks at both ends, as the table has them."""
    return replace(
        choices,
        target=choices.target.strip(),
        roles={name.strip(): role for name, role in choices.roles.items()},
        kinds={name.strip(): kind for name, kind in choices.kinds.items()},
        latest=choices.latest.strip(),
    )


def _sample(name: str, choices: Choices) -> Dataset:
    if name not in SAMPLES:
        near = difflib.get_close_matches(name, SAMPLES, n=1)
        cure = f"did you mean sample:{near[0]}" if near else f"choose one of {', '.join(SAMPLES)}"
        raise UnusableError("there is no such sample", where=f"sample:{name}", cure=cure)
    return SAMPLES[name].read(choices)


def _is_libsvm(path: Path, head: bytes) -> bool:
    text = decode(head)[1]
    if looks_like_libsvm(text):
        return True
    named = any(suffix in _LIBSVM_ENDINGS for suffix in path.suffixes)
    return named and ":" in text


def _read_table(
    path: Path,
    compression: str,
    head: bytes,
    kinds: Mapping[str, str],
    shape: Shape | None,
    wanted: str,
) -> RawTable:
    complete = len(head) < HEAD_BYTES
    missing: tuple[str, ...] = MISSING
    if shape is not None:
        # Names and labels are text, and a full stop is a word: only empty cells are missing.
        kinds = {**kinds, shape.sequence: "category", shape.target: "category"}
        missing = ("",)
    return read_csv_table(
        path,
        compression,
        head,
        complete=complete,
        kinds=kinds,
        missing=missing,
        wanted=wanted,
    )


def _with_libsvm_test(train: Dataset, file: str) -> Dataset:
    path = check_path(file)
    compression = compression_of(path)
    head = read_head(path, compression)
    if not _is_libsvm(path, head):
        raise _other_format(path, "LIBSVM")
    return libsvm.with_test(train, libsvm.read_rows(path, compression, head), path, compression)


def _table_test(train: Dataset, file: str) -> Dataset:
    path = check_path(file)
    compression = compression_of(path)
    head = read_head(path, compression)
    if _is_libsvm(path, head):
        raise _other_format(path, "CSV")
    # Text stays text and numbers stay numbers, whatever this file's values look like.
    kinds = {
        column.name: "category" if column.kind not in ("number", "date") else column.kind
        for column in train.columns
        if column.name in train.source.read_csv.get("dtype", {})
    }
    shape = None
    if train.task == "sequence" or train.task == "structure":
        shape = Shape(train.task, train.sequence_name, train.target_name, given=True)
    wanted = train.target_name or train.feature_names[0]
    read = _read_table(path, compression, head, kinds, shape, wanted)
    return assemble_test(train, read)


def _other_format(path: Path, wanted: str) -> UnusableError:
    return UnusableError(
        f"the first file is {wanted}, this one is not",
        where=path.name,
        cure="choose two files of the same format",
    )
