"""Detects rows, tokens or molecules from a table's header and first rows."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.datasets.molecules import DOTS
from core.datasets.task import Task
from core.datasets.understanding.target import guess_task, target_column
from core.errors import UnusableError

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
    """The first rows of a table and what a person chose."""

    cells: Mapping[str, Sequence[str]]
    target: str
    sequences: Sequence[str]  # the columns of role sequence, one at most
    roles: Mapping[str, str]
    is_chosen: bool  # the task

    def free_columns(self, target: str) -> list[str]:
        """Those that may be the sequence."""
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
    runs = 1 + int(np.count_nonzero(np.diff(codes)))
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
