"""A table of tokens or of molecules is recognized and becomes a Dataset.

Tokens: sequences of adjacent rows, a label for every row. Molecules: letters of bases, and
structures in brackets.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import pandas as pd

from core.datasets.columns import count_values, describe_column
from core.datasets.dataset import Dataset
from core.datasets.dataset_summary import Column, Kind, Role
from core.datasets.finding import Finding, FixableInputError, SuggestedChange, UnusableTargetError
from core.datasets.molecules import (
    AMBIGUOUS,
    CROSSING,
    DOTS,
    LONG_LOOP,
    LONGEST_LOOP,
    NOT_CANONICAL,
    SHORT_HAIRPIN,
    ambiguous_letters,
    normalize_structure,
    parse_molecule,
    plain_letters,
)
from core.datasets.raw_table import DataOptions, RawTable
from core.datasets.split_units import MIN_GROUPS, family_column, join_codes
from core.datasets.task import Task
from core.datasets.understanding.feature_table import dataset_of_rows, no_feature
from core.datasets.understanding.findings import LeakageCheck, table_findings
from core.datasets.understanding.target import guess_task, target_column
from core.errors import UnusableError
from core.wording import count_text

SEQUENCE_NAMES = ("sequence", "sequence_id", "sentence", "sentence_id", "sent_id", "seq", "seq_id")
LETTER_NAMES = ("sequence", "seq", "letters", "bases")
LONGEST_USUAL = 200  # mean tokens per sequence, beyond which the name is not enough
_BRACKETS = re.compile(rf"[()\[\]{{}}<>A-Za-z{re.escape(DOTS)}]+")
_ROUND = re.compile(r"[(){}\[\]<>]")


@dataclass(frozen=True)
class StructuredLayout:
    """The columns of a table of tokens or molecules."""

    task: Task  # of tokens, or of molecules
    sequence: str  # column of sequence ids, or of the molecules' letters
    target: str  # column of labels, or of structures
    is_chosen: bool  # by a person; else the whole table must confirm it


def detect_layout(
    cells: Mapping[str, Sequence[str]], target: str, task: str, roles: Mapping[str, str]
) -> StructuredLayout | None:
    """The layout of the first rows, or None; UnusableError where a requested one is missing."""
    wanted_task = Task(task)
    if task and not wanted_task.is_structured:
        return None
    by_role = [name for name, role in roles.items() if role == "target" and name in cells]
    wanted_target = target or (by_role[0] if by_role else "")
    sequences = [name for name, role in roles.items() if role == "sequence" and name in cells]
    # Which of two columns parts the rows cannot be guessed.
    if len(sequences) > 1:
        fault = f"{len(sequences)} columns have the role sequence"
        raise UnusableError(fault, where=f"columns {', '.join(sequences)}", cure="give it to one")
    if not wanted_task.has_sequences:
        head = _Head(cells, wanted_target, sequences, roles, wanted_task.has_pairs)
        layout = _molecule_layout(head)
        if layout or task:
            return layout
    return _token_layout(_Head(cells, wanted_target, sequences, roles, wanted_task.has_sequences))


@dataclass(frozen=True)
class _Head:
    cells: Mapping[str, Sequence[str]]
    target: str
    sequences: Sequence[str]  # the columns of role sequence, one at most
    roles: Mapping[str, str]
    is_chosen: bool  # the task

    def free_columns(self, target: str) -> list[str]:
        names = [name for name in self.cells if name != target]
        return [name for name in names if self.roles.get(name, "sequence") == "sequence"]


def _normalized_name(name: str) -> str:
    return re.sub(r"[\s_.#-]+", "_", name.strip().lower()).strip("_")


def _molecule_layout(head: _Head) -> StructuredLayout | None:
    cells, is_chosen = head.cells, head.is_chosen
    target = head.target if head.target in cells else ""
    for name in cells if not target else ():
        is_named = is_chosen or _normalized_name(name) == "structure"
        if is_named and head.roles.get(name, "target") == "target" and _are_brackets(cells[name]):
            target = target if _normalized_name(target) == "structure" else name
    free = head.free_columns(target)
    # A person's column first, then usual names, then, where molecules are asked for, any letters.
    letters = [*head.sequences, *(n for n in free if _normalized_name(n) in LETTER_NAMES)]
    if is_chosen:
        letters += [name for name in free if _are_letters(cells[name])]
    letters = [name for name in letters if name != target]
    is_plain = bool(letters and target) and _are_brackets(cells[target])
    is_plain = is_plain and _are_letters(cells[letters[0]])
    if target and letters and (is_chosen or is_plain):
        return StructuredLayout(Task.STRUCTURE, letters[0], target, is_chosen)
    if is_chosen:
        missing = "no column holds structures" if not target else "no column holds letters of bases"
        cure = "give a column “structure” of dots and brackets and a column “sequence”"
        raise UnusableError(missing, where="task structure", cure=cure)
    return None


def _are_brackets(values: Sequence[str]) -> bool:
    filled = [value.strip() for value in values if value.strip()]
    fitting = [value for value in filled if _BRACKETS.fullmatch(value) and "." in value]
    fitting += [value for value in filled if _ROUND.search(value) and "." not in value]
    paired = any(_ROUND.search(value) or set(value) <= set(DOTS) for value in filled)
    return bool(filled) and paired and 2 * len(fitting) > len(filled)


def _are_letters(values: Sequence[str]) -> bool:
    filled = [value.strip().upper() for value in values if value.strip()]
    fitting = sum(sum(map(value.count, "ACGUTN")) > 0.8 * len(value) for value in filled)
    return bool(filled) and 2 * fitting > len(filled)


def _token_layout(head: _Head) -> StructuredLayout | None:
    names, is_chosen = list(head.cells), head.is_chosen
    if len(names) < 2 or (head.target and head.target not in names):
        return None  # refused as an ordinary table
    target = target_column(names, head.target, "")
    for sequence in head.sequences:
        layout = StructuredLayout(Task.SEQUENCE, sequence, target, True)
        return None if sequence == target else layout
    free = head.free_columns(target)
    named = [name for name in free if _normalized_name(name) in SEQUENCE_NAMES]
    for name in (*named, *(free if is_chosen else ())):
        if _in_runs(head.cells[name]):
            return StructuredLayout(Task.SEQUENCE, name, target, is_chosen)
    if is_chosen and named:
        return StructuredLayout(Task.SEQUENCE, named[0], target, True)
    if is_chosen:
        fault = "no column says which sequence a row belongs to"
        cure = "give such a column the role sequence"
        raise UnusableError(fault, where="task sequence", cure=cure)
    return None


def _in_runs(values: Sequence[str]) -> bool:
    runs = 1 + sum(a != b for a, b in itertools.pairwise(values))
    return runs < len(values) and runs <= 2 * len(set(values))


def matches_layout(shape: StructuredLayout, table: pd.DataFrame) -> bool:
    """Whether the table confirms its layout: sequences hardly interrupted, a target of classes."""
    if shape.is_chosen or shape.task.has_pairs:
        return True
    codes, names = pd.factorize(table[shape.sequence])
    # Tokens of a sequence are adjacent: a column whose values alternate is an ordinary one.
    runs = 1 + int(np.count_nonzero(np.diff(codes)))
    # In other files “seq” counts rows, so it must fit better than “sentence” must.
    is_clear_name = _normalized_name(shape.sequence) not in ("seq", "seq_id")
    rows = len(codes)
    if len(names) < 2 or rows < 1.2 * runs or rows > LONGEST_USUAL * runs:
        return False
    if runs > (1.5 if is_clear_name else 1.1) * len(names) + 1:
        return False
    labels = table[shape.target].dropna()
    if labels.empty:
        return True
    uniques = pd.Series(labels.unique())
    numbers = pd.to_numeric(uniques, errors="coerce")
    if numbers.notna().all():
        return guess_task(pd.to_numeric(labels).to_numpy(dtype=float)).has_classes
    return len(uniques) <= max(10, rows / 2)


MAX_LABELS = 500
_NAME_COLUMNS = ("id", "name", "molecule", "accession", "family")
_AS_N = SuggestedChange(
    "Read other letters as N", "--other-letters", fields={"other_letters": True}
)
_OTHER = re.compile(f"[^ACGUTN{AMBIGUOUS}]", re.IGNORECASE)
_DROPPED = {
    NOT_CANONICAL: "join bases that do not pair (all but AU, CG and GU)",
    SHORT_HAIRPIN: "leave fewer than 3 bases in a hairpin",
    CROSSING: "cross others",
    LONG_LOOP: f"lie at a loop of more than {LONGEST_LOOP} unpaired bases",
}


def from_tokens(raw_table: RawTable, shape: StructuredLayout, choices: DataOptions) -> Dataset:
    """The dataset of a table of tokens; UnusableTargetError for one label or too many."""
    table, name = raw_table.table, raw_table.name
    note = "rows with the same value are one sequence, in their order"
    distinct = int(table[shape.sequence].nunique())
    others = [str(column) for column in table.columns if column != shape.sequence]
    columns = (
        Column(shape.sequence, "sequence", "identifier", distinct=distinct, note=note),
        *(_token_column(table[n], n == shape.target, choices.roles.get(n, "")) for n in others),
    )
    features = [column.name for column in columns if column.role == "feature"]
    if not features:
        raise no_feature(columns, name)
    names, labels = _checked_tokens(raw_table, shape)
    classes = tuple(np.unique(labels).tolist())
    if fault := _fault_of_labels(classes, len(labels)):
        raise UnusableTargetError(
            fault,
            where=f"{name}, column {shape.target}",
            cure="choose another target",
            columns=[column for column in others if column != shape.target],
        )
    features = [shape.sequence, *features]
    dataset = dataset_of_rows(raw_table, columns, features, labels, Task.SEQUENCE)
    units = dataset.row_groups
    if units is not None and not (units := join_codes(pd.factorize(names)[0], units)).any():
        grouping = next(column.name for column in columns if column.role == "group")
        fault = "its values join all sequences to one group, which cannot be split"
        cure = "give another column the role group, or none"
        raise UnusableError(fault, where=f"column {grouping}", cure=cure)
    dataset = replace(dataset, classes=classes, row_groups=names, units=units)
    telling = table_findings(dataset, LeakageCheck(dataset).telling_columns())
    findings = (*dataset.findings, *_token_findings(names, labels, shape), *telling)
    return replace(dataset, findings=findings)


def tokens_test_part(part: Dataset, raw_table: RawTable, shape: StructuredLayout) -> Dataset:
    """A second file's tokens; new labels are kept, with a finding."""
    names, labels = _checked_tokens(raw_table, shape)
    is_new = ~np.isin(labels, part.classes)
    unseen, count = np.unique(labels[is_new]).tolist(), int(is_new.sum())
    they, labels_text = (
        ("it", "a label") if len(unseen) == 1 else ("they", f"{len(unseen):,} labels")
    )
    sentence = (
        f"The test file has {labels_text} that the first file has not: {_label_list(unseen)},"
        f" on {count_text(count, 'token')}; {they} cannot be predicted, and"
        f" {'this counts' if count == 1 else 'these count'} as wrong."
    )
    findings = (Finding(sentence, shape.target, serious=True),) if unseen else ()
    return replace(part, target=labels, row_groups=names, findings=findings)


def _token_column(values: pd.Series, is_target: bool, role: str) -> Column:
    text = not pd.api.types.is_numeric_dtype(values.dtype)
    column = describe_column(values, first=False, kind="category" if text else "")
    role = "target" if is_target else role
    if not role:
        return column
    return replace(column, role=cast(Role, role), note=column.note if role == "ignore" else "")


def _checked_tokens(raw_table: RawTable, shape: StructuredLayout) -> tuple[np.ndarray, np.ndarray]:
    def check(has_fault: np.ndarray, column: str, fault: str, cure: str) -> None:
        if has_fault.any():
            line = raw_table.line_of(int(has_fault.argmax()))
            where = f"{raw_table.name}, line {line}, column {column}"
            raise UnusableError(fault, where=where, cure=cure)

    sequence, target = raw_table.table[shape.sequence], raw_table.table[shape.target]
    cure = "say in every row which sequence it belongs to"
    is_missing = sequence.isna().to_numpy()
    check(is_missing, shape.sequence, "the token belongs to no sequence", cure)
    codes, names = pd.factorize(sequence)
    # A sequence that comes back is two of one name, or rows in a wrong order: both would be torn.
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    returns = starts[pd.Series(codes[starts]).duplicated().to_numpy()]
    for row in returns[:1]:
        end = raw_table.line_of(int(np.flatnonzero(codes[:row] == codes[row])[-1]))
        fault = f"the sequence “{names[codes[row]]}” comes back, which had ended in line {end}"
        cure = "put the rows of a sequence together, or give every sequence a name of its own"
        check(np.arange(len(codes)) == row, shape.sequence, fault, cure)
    fault = "the token has no label, and it cannot be left out without tearing its sequence"
    cure = "give it a label, or leave out the whole sequence"
    check(target.isna().to_numpy(), shape.target, fault, cure)
    label_codes, labels = pd.factorize(target)
    sequence_names = np.asarray(names.astype(str), dtype=str)[codes]
    return sequence_names, np.asarray(labels.astype(str), dtype=str)[label_codes]


def _fault_of_labels(classes: Sequence[str], tokens: int) -> str:
    count = len(classes)
    if count == 1:
        return f"every token has the same label ({classes[0]})"
    is_too_many = count > MAX_LABELS or (count > 10 and count > tokens / 2)
    return f"the tokens have {count:,} different labels, too many to learn" if is_too_many else ""


def _token_findings(
    names: np.ndarray, labels: np.ndarray, shape: StructuredLayout
) -> list[Finding]:
    codes, _ = pd.factorize(names)
    lengths = np.bincount(codes)
    findings = []
    short = int((lengths == 1).sum())
    if short == len(lengths):
        sentence = "Every sequence has one token only, so nothing is learned about what follows"
        findings.append(Finding(f"{sentence} what.", shape.sequence, serious=True))
    elif short:
        sequences = "1 sequence has" if short == 1 else f"{short:,} sequences have"
        findings.append(Finding(f"{sequences} one token only.", shape.sequence))
    pairs = pd.DataFrame({"label": labels, "sequence": codes}).drop_duplicates()
    counts = pairs["label"].value_counts()
    if lonely := sorted(counts.index[counts == 1]):
        words, occur, they = f"{len(lonely):,} labels:", "each occur", "they"
        if len(lonely) == 1:
            words, occur, they = "The label", "occurs", "it"
        sentence = (
            f"{words} {_label_list(lonely)} {occur} in one sequence only; where that is in the test"
            f" set, {they} cannot be learned."
        )
        findings.append(Finding(sentence, shape.target))
    return findings


def _label_list(labels: Sequence[str]) -> str:
    return ", ".join(f"“{label}”" for label in labels[:5]) + (", …" if len(labels) > 5 else "")


def from_molecules(raw_table: RawTable, shape: StructuredLayout, choices: DataOptions) -> Dataset:
    """The dataset of a table with one row per molecule; UnusableError names the line of a fault."""
    raw_table, structures, findings = _read_molecules(raw_table, shape, choices.other_letters)
    table, roles = raw_table.table, choices.roles
    names = [str(column) for column in table.columns]
    # Families are not split, where there are enough.
    # Relatives on both sides of a split make scores of folding look far too good.
    family = family_column(names) if choices.together and "group" not in roles.values() else ""
    if family and family not in roles:
        values = table[family]
        if MIN_GROUPS <= int(values.nunique()) < int(values.notna().sum()):
            roles = {**roles, family: "group"}
    ids = _name_column(table, shape, roles)
    columns = tuple(_molecule_column(table[n], shape, roles.get(n, ""), ids) for n in names)
    dataset = dataset_of_rows(raw_table, columns, [shape.sequence], structures, Task.STRUCTURE)
    return replace(
        dataset,
        row_names=_molecule_names(table, ids),
        findings=(*dataset.findings, *findings),
        other_letters=choices.other_letters,
    )


def molecules_test_part(
    part: Dataset, raw_table: RawTable, shape: StructuredLayout, other_letters: bool
) -> Dataset:
    """A second file's molecules."""
    raw_table, structures, findings = _read_molecules(
        raw_table, shape, other_letters, "In the test file, "
    )
    table = raw_table.table
    names = _molecule_names(table, _name_column(table, shape, {}))
    table = table[[shape.sequence]]
    return replace(part, table=table, target=structures, row_names=names, findings=tuple(findings))


def _read_molecules(
    raw_table: RawTable, shape: StructuredLayout, other_letters: bool, prefix: str = ""
) -> tuple[RawTable, np.ndarray, list[Finding]]:
    column, findings = shape.sequence, list[Finding]()
    values = raw_table.table[column]
    texts = values.where(values.isna(), values.astype(str).str.strip())
    unknown = [_OTHER.findall(text) for text in texts.fillna("")] if other_letters else []
    if any(unknown):
        letter = next(letters[0] for letters in unknown if letters)
        trait = f"none of the bases (such as “{letter}”)"
        findings = _letter_findings(column, list(map(len, unknown)), prefix, ("is", "are"), trait)
        bases = texts.map(lambda text: _OTHER.sub("N", text), na_action="ignore")
        raw_table = replace(raw_table, table=raw_table.table.assign(**{column: bases}))
    structures = _checked_structures(raw_table, shape)
    letters = raw_table.table[column]
    findings += _lost_pair_findings(letters, structures, prefix)
    ambiguous = letters.astype(str).map(ambiguous_letters).tolist()
    trait = "for several bases (such as R or Y)"
    findings += _letter_findings(column, ambiguous, prefix, ("stands", "stand"), trait)
    return raw_table, structures, findings


def _letter_findings(
    column: str, counts: list[int], prefix: str, verbs: tuple[str, str], trait: str
) -> list[Finding]:
    total, molecules = sum(counts), sum(count > 0 for count in counts)
    sentence = (
        f"{prefix}{count_text(total, 'letter')} {verbs[total > 1]} {trait}, in {molecules:,} of"
        f" {len(counts):,} molecules, and {'is' if total == 1 else 'are'} read as N."
    )
    return [Finding(sentence, column)] if total else []


def dropped_pairs(letters: Sequence[str], structures: Sequence[str]) -> tuple[int, dict[str, int]]:
    """The number of base pairs, and by kind those that the grammar cannot make."""
    total, counts = 0, Counter[str]()
    for bases, structure in zip(letters, structures, strict=True):
        molecule = parse_molecule(bases.strip(), structure)
        counts.update(molecule.dropped)
        total += molecule.structure.count("(") + sum(molecule.dropped.values())
    return total, dict(counts)


def _molecule_column(
    values: pd.Series, shape: StructuredLayout, role: str, name_column: str
) -> Column:
    name, count = str(values.name), count_values(values)
    missing, distinct = count.missing, count.distinct
    if name == shape.target:
        return Column(name, "target", "text", missing, distinct)
    if name == shape.sequence:
        return Column(name, "sequence", "text", missing, distinct, note="the letters of the bases")
    if role == "feature":
        fault = "molecules are folded by their letters alone"
        raise UnusableError(fault, where=f"column {name}", cure="give it the role ignore, or group")
    kind: Kind = "number" if pd.api.types.is_numeric_dtype(values.dtype) else "category"
    if role == "group":
        return Column(name, "group", kind, missing, distinct)
    note = "only the letters are learned from"
    if name == name_column:
        kind, note = "identifier", "the name of each molecule"
    return Column(name, "ignore", kind, missing, distinct, note=note)


def _name_column(table: pd.DataFrame, shape: StructuredLayout, roles: Mapping[str, str]) -> str:
    other_names = [str(c) for c in table.columns if c not in (shape.sequence, shape.target)]
    usual = [name for name in other_names if name.strip().lower() in _NAME_COLUMNS]
    unique = [n for n in other_names if table[n].notna().all() and table[n].is_unique]
    return next((n for n in (*usual, *unique) if roles.get(n, "ignore") == "ignore"), "")


def _molecule_names(table: pd.DataFrame, column: str) -> np.ndarray | None:
    if not column:
        return None
    names = enumerate(table[column], 1)
    return np.array([f"molecule {row}" if pd.isna(name) else str(name) for row, name in names])


def _checked_structures(raw_table: RawTable, shape: StructuredLayout) -> np.ndarray:
    columns = (raw_table.table[name] for name in (shape.sequence, shape.target))
    cells = (values.astype(object).where(values.notna(), "").astype(str) for values in columns)
    structures = []
    for row, (letters, structure) in enumerate(zip(*cells, strict=True)):
        letters, structure = letters.strip(), structure.strip()
        where = f"{raw_table.name}, line {raw_table.line_of(row)}, column "
        try:
            plain_letters(letters, where + shape.sequence)
        except UnusableError as fault:
            if not letters:
                raise
            words = {"where": fault.where, "cure": fault.cure}
            raise FixableInputError(fault.what, _AS_N, **words) from None
        if not structure:
            cure = "give every base a dot or a bracket"
            raise UnusableError("the structure is empty", where=where + shape.target, cure=cure)
        structures.append(normalize_structure(structure, where + shape.target, len(letters)))
    return np.array([*structures, None], dtype=object)[:-1]


def _lost_pair_findings(letters: pd.Series, structures: np.ndarray, prefix: str) -> list[Finding]:
    total, by_kind = dropped_pairs(letters.tolist(), structures.tolist())
    lost = sum(by_kind.values())
    if total == lost:
        fault = "every base pair is one that cannot be learned" if total else "no base is paired"
        words = f"{prefix}{fault}, so there is no structure to learn."
        return [Finding(words[0].upper() + words[1:], serious=True)]
    kinds = "; ".join(f"{n:,} {_DROPPED[kind]}" for kind, n in by_kind.items() if n)
    sentence = (
        f"{prefix}{lost:,} of {total:,} base pairs cannot be made by the grammar and are left"
        f" out: {kinds}."
    )
    return [Finding(sentence)] if lost else []
