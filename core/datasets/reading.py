"""A file becomes a Dataset: a table of any format, LIBSVM or a sample, by what is in it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from core.datasets.dataset import Dataset
from core.datasets.files import libsvm
from core.datasets.files.sniffing import MISSING, forget
from core.datasets.files.table_file import TableFile, TextFile, open_table
from core.datasets.raw_table import NO_CHOICES, Choices, RawTable
from core.datasets.samples.registry import SAMPLES
from core.datasets.sampling.taking import AS_FIT, Part, Wanted, taken
from core.datasets.splits.units import shared_finding, with_units
from core.datasets.texts.vocabulary import USUAL_RULES, WordRules
from core.datasets.understanding.assembling import assemble, assemble_test, roles_of_rows
from core.datasets.understanding.recognition import STRUCTURED, Shape, confirmed, recognize
from core.datasets.understanding.target import check_task
from core.datasets.understanding.text_table import with_words
from core.errors import UnusableError


def read_dataset(
    file: str,
    choices: Choices = NO_CHOICES,
    *,
    test_file: str = "",
    words: WordRules = USUAL_RULES,
    wanted: Wanted = AS_FIT,
    wanted_test: Wanted = AS_FIT,
) -> Dataset:
    """Read a dataset.

    Args:
        file: a path, with ``#SHEET`` behind it for a sheet of a workbook, or ``sample:NAME``.
        choices: what a person decided.
        test_file: a second file to test on; of LIBSVM lines where the first one is.
        words: which words of texts count.
        wanted, wanted_test: how many rows of the file, and of the second one.

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
    opened = open_table(file)
    if isinstance(opened, TextFile) and opened.is_libsvm:
        with taken(opened, choices, wanted) as part:
            dataset = part.told(_from_libsvm(part, choices, words))
        if test_file:
            dataset = _tested(_with_libsvm_test(dataset, test_file, wanted_test))
        return dataset
    try:
        dataset = with_words(_drawn_table(opened, choices, wanted), words)
        if not test_file:
            return dataset
        return _tested(replace(dataset, test=_table_test(dataset, test_file, wanted_test)))
    finally:
        forget()


def _drawn_table(file: TableFile, choices: Choices, wanted: Wanted) -> Dataset:
    """The dataset of a table, or of rows drawn from it; sequences are never taken apart.

    Raises:
        UnusableError: as `read_dataset`; or rows of sequences are to be drawn.
    """
    with taken(file, _trimmed(choices), wanted) as part:
        dataset = part.told(_from_table(part.file, choices))
    if dataset.sampled is None or dataset.task != "sequence":
        return dataset
    if wanted.rows is None:
        return _from_table(file, choices)
    raise UnusableError(
        "the rows of a sequence belong together and cannot be drawn one by one",
        where=file.path.name,
        cure="read all rows, or a file of fewer sequences",
    )


def read_part(train: Dataset, part: Part) -> Dataset:
    """Rows of the same file, or of another one, understood as a dataset's rows were.

    Raises:
        UnusableError: they are of another kind.
    """
    with part.lines.named():
        return _read_part(train, part)


def _read_part(train: Dataset, part: Part) -> Dataset:
    if train.matrix is None:
        return _assembled_test(train, part.file)
    assert isinstance(part.file, TextFile)
    width = train.matrix.shape[1]
    path, compression = part.file.path, part.file.compression
    rows = libsvm.read_rows(path, compression, part.file.head, part.zero_based)
    test = libsvm.with_test(train, rows, path, compression).test
    assert test is not None
    assert test.matrix is not None
    return replace(test, matrix=test.matrix[:, :width])


def _from_libsvm(part: Part, choices: Choices, words: WordRules) -> Dataset:
    file = part.file
    assert isinstance(file, TextFile)
    path = file.path
    if choices.task in STRUCTURED:
        raise UnusableError(
            "a LIBSVM file holds neither sequences nor molecules",
            where=path.name,
            cure="give a CSV file, or another task",
        )
    rows = libsvm.read_rows(path, file.compression, file.head, part.zero_based)
    dataset = libsvm.from_rows(rows, path, file.compression, choices)
    if choices.latest:
        raise UnusableError(
            "a LIBSVM file has no dates", where=path.name, cure="test on rows drawn at random"
        )
    return with_units(with_words(dataset, words), choices.together)


def _tested(dataset: Dataset) -> Dataset:
    """The dataset with a second file: which rows are in both, and no proposal to test on others."""
    test = dataset.test
    assert test is not None
    kept = [f for f in dataset.findings if not (f.proposal and "latest" in f.proposal.fields)]
    return replace(dataset, findings=(*kept, *shared_finding(dataset, test)))


def _from_table(file: TableFile, choices: Choices) -> Dataset:
    """The dataset of a table; its first rows say how the others are to be read."""
    choices = _trimmed(choices)
    target, kinds = choices.target, choices.kinds
    cells = file.first_cells(target)
    shape = recognize(cells, target, choices.task, choices.roles)
    read = _read_table(file, kinds, shape, target)
    if shape is not None and not confirmed(shape, read.table):
        shape = None
        read = _read_table(file, kinds, None, target)
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


def _read_table(
    file: TableFile, kinds: Mapping[str, str], shape: Shape | None, wanted: str
) -> RawTable:
    missing: tuple[str, ...] = MISSING
    if shape is not None:
        # Names and labels are text, and a full stop is a word: only empty cells are missing.
        kinds = {**kinds, shape.sequence: "category", shape.target: "category"}
        missing = ("",)
    return file.read(kinds, missing, wanted)


def _with_libsvm_test(train: Dataset, file: str, wanted: Wanted) -> Dataset:
    opened = open_table(file)
    if not (isinstance(opened, TextFile) and opened.is_libsvm):
        raise _other_format(opened.path, "LIBSVM")
    with taken(opened, NO_CHOICES, wanted) as part:
        drawn = part.file
        assert isinstance(drawn, TextFile)
        rows = libsvm.read_rows(drawn.path, drawn.compression, drawn.head, part.zero_based)
        both = libsvm.with_test(train, rows, drawn.path, drawn.compression)
        assert both.test is not None
        return replace(both, test=part.told(both.test))


def _table_test(train: Dataset, file: str, wanted: Wanted) -> Dataset:
    opened = open_table(file)
    if isinstance(opened, TextFile) and opened.is_libsvm:
        raise _other_format(opened.path, "a table with columns")
    if train.task == "sequence":
        return _assembled_test(train, opened)
    with taken(opened, Choices(target=train.target_name), wanted) as part:
        return part.told(_assembled_test(train, part.file))


def _assembled_test(train: Dataset, opened: TableFile) -> Dataset:
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
    read = _read_table(opened, kinds, shape, wanted)
    test = assemble_test(train, read)
    # Which sheet was read, and what of the file was left out.
    own = (replace(f, sentence=f"In the test file: {f.sentence}") for f in read.findings)
    return replace(test, findings=(*test.findings, *(f for f in own if not f.column)))


def _other_format(path: Path, wanted: str) -> UnusableError:
    return UnusableError(
        f"the first file is {wanted}, this one is not",
        where=path.name,
        cure="choose two files of the same format",
    )
