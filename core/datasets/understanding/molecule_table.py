"""A table of molecules becomes a Dataset: letters of bases, and structures in brackets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import get_args

import numpy as np
import pandas as pd

from core.datasets.columns import check_names, count_distinct, unknown_column
from core.datasets.dataset import Column, Dataset, Kind, Role
from core.datasets.finding import Finding
from core.datasets.molecules import (
    CROSSING,
    LONG_LOOP,
    LONGEST_LOOP,
    NOT_CANONICAL,
    SHORT_HAIRPIN,
    ambiguous_letters,
    bracket_pairs,
    normalize_structure,
    parse_molecule,
    plain_letters,
)
from core.datasets.raw_table import DataOptions, RawTable
from core.datasets.splits.proposals import MIN_GROUPS, family_column
from core.datasets.task import Task
from core.datasets.understanding.feature_table import left_out, row_groups
from core.datasets.understanding.fixable_input import FixableInputError
from core.datasets.understanding.recognition import StructuredLayout
from core.datasets.understanding.unknown_bases import AS_N, replace_unknown_bases
from core.errors import UnusableError

NAME_COLUMNS = ("id", "name", "molecule", "accession", "family")
_WORDS = {
    NOT_CANONICAL: "join bases that do not pair (all but AU, CG and GU)",
    SHORT_HAIRPIN: "leave fewer than 3 bases in a hairpin",
    CROSSING: "cross others",
    LONG_LOOP: f"lie at a loop of more than {LONGEST_LOOP} unpaired bases",
}


def from_molecules(raw_table: RawTable, shape: StructuredLayout, choices: DataOptions) -> Dataset:
    """The dataset of a table with one row per molecule; UnusableError names the line of a fault."""
    letter_findings: list[Finding] = []
    if choices.other_letters:
        raw_table, letter_findings = replace_unknown_bases(raw_table, shape.sequence)
    table, roles = raw_table.table, choices.roles
    if choices.together:
        roles = roles_with_family(table, roles)
    columns = _columns(table, shape, roles, choices.kinds)
    structures = _checked_structures(raw_table, shape)
    name_column = _name_column(table, shape, roles)
    return Dataset(
        name=raw_table.name,
        source=raw_table.source,
        columns=columns,
        table=table[[shape.sequence]],
        matrix=None,
        target=structures,
        task=Task.STRUCTURE,
        row_groups=row_groups(table, columns),
        row_names=_molecule_names(table, name_column),
        findings=(
            *raw_table.findings,
            *letter_findings,
            *_findings(table[shape.sequence], structures, shape),
        ),
        other_letters=choices.other_letters,
        left_out=left_out(table, [c for c in columns if c.role != "sequence"]),
    )


def roles_with_family(table: pd.DataFrame, roles: Mapping[str, str]) -> Mapping[str, str]:
    """The roles, and group for a column named as the family, where there are enough."""
    names = [str(name) for name in table.columns]
    name = "" if "group" in roles.values() else family_column(names)
    if not name or name in roles:
        return roles
    enough = MIN_GROUPS <= int(table[name].nunique()) < int(table[name].notna().sum())
    return {**roles, name: "group"} if enough else roles


def molecules_test_part(train: Dataset, raw_table: RawTable) -> Dataset:
    """A second file's molecules."""
    for column in (train.sequence_name, train.target_name):
        if column not in raw_table.table.columns:
            raise unknown_column(column, [str(c) for c in raw_table.table.columns], raw_table.name)
    letter_findings, prefix = list[Finding](), "In the test file, "
    if train.other_letters:
        raw_table, letter_findings = replace_unknown_bases(raw_table, train.sequence_name, prefix)
    table = raw_table.table
    shape = StructuredLayout(Task.STRUCTURE, train.sequence_name, train.target_name, True)
    structures = _checked_structures(raw_table, shape)
    pair_findings = _lost_pair_findings(table[shape.sequence], structures, prefix)
    return Dataset(
        name=raw_table.name,
        source=raw_table.source,
        columns=train.columns,
        table=table[[shape.sequence]],
        matrix=None,
        target=structures,
        task=Task.STRUCTURE,
        row_groups=row_groups(table, [c for c in train.columns if c.name in table.columns]),
        row_names=_molecule_names(table, _name_column(table, shape, {})),
        findings=(
            *pair_findings,
            *letter_findings,
            *_ambiguity_findings(table[shape.sequence], shape, prefix),
        ),
    )


def dropped_pairs(letters: Sequence[str], structures: Sequence[str]) -> tuple[int, dict[str, int]]:
    """The number of base pairs, and by kind those that the grammar cannot make."""
    total, counts = 0, Counter[str]()
    for bases, structure in zip(letters, structures, strict=True):
        molecule = parse_molecule(bases.strip(), structure)
        counts.update(molecule.dropped)
        total += molecule.structure.count("(") + sum(molecule.dropped.values())
    return total, dict(counts)


def _columns(
    table: pd.DataFrame, shape: StructuredLayout, roles: Mapping[str, str], kinds: Mapping[str, str]
) -> tuple[Column, ...]:
    names = [str(column) for column in table.columns]
    check_names(roles, names, "role", get_args(Role))
    check_names(kinds, names, "kind", get_args(Kind))
    ids = _name_column(table, shape, roles)
    return tuple(_molecule_column(table[n], n, shape, roles.get(n, ""), ids) for n in names)


def _molecule_column(
    values: pd.Series, name: str, shape: StructuredLayout, role: str, name_column: str
) -> Column:
    missing, distinct = int(values.isna().sum()), count_distinct(values)
    if name == shape.target:
        return Column(name, "target", "text", missing, distinct)
    if name == shape.sequence:
        return Column(name, "sequence", "text", missing, distinct, note="the letters of the bases")
    kind: Kind = "number" if pd.api.types.is_numeric_dtype(values.dtype) else "category"
    if role == "feature":
        fault = "molecules are folded by their letters alone"
        raise UnusableError(fault, where=f"column {name}", cure="give it the role ignore, or group")
    if role == "group":
        return Column(name, "group", kind, missing, distinct)
    note = (
        "the name of each molecule" if name == name_column else "only the letters are learned from"
    )
    kind = "identifier" if name == name_column else kind
    return Column(name, "ignore", kind, missing, distinct, note=note)


def _name_column(table: pd.DataFrame, shape: StructuredLayout, roles: Mapping[str, str]) -> str:
    other_names = [str(c) for c in table.columns if c not in (shape.sequence, shape.target)]
    usual = [name for name in other_names if name.strip().lower() in NAME_COLUMNS]
    unique = [n for n in other_names if table[n].notna().all() and table[n].is_unique]
    free = [name for name in (*usual, *unique) if roles.get(name, "ignore") == "ignore"]
    return free[0] if free else ""


def _molecule_names(table: pd.DataFrame, column: str) -> np.ndarray | None:
    if not column:
        return None
    values = table[column]
    default_names = [f"molecule {row + 1}" for row in range(len(values))]
    names = values.astype(object).where(values.notna(), pd.Series(default_names, dtype=object))
    return np.array([str(name) for name in names], dtype=str)


def _checked_structures(raw_table: RawTable, shape: StructuredLayout) -> np.ndarray:
    structures = np.empty(len(raw_table.table), dtype=object)
    columns = (raw_table.table[shape.sequence], raw_table.table[shape.target])
    for row, (letters, structure) in enumerate(zip(*columns, strict=True)):
        column = shape.sequence
        try:
            plain = plain_letters("" if pd.isna(letters) else str(letters).strip())
            column = shape.target
            text = "" if pd.isna(structure) else str(structure).strip()
            structures[row] = _one_structure(text, plain)
        except UnusableError as fault:
            where = f"{raw_table.name}, line {raw_table.line_of(row)}, column {column}"
            if column == shape.sequence and not pd.isna(letters) and str(letters).strip():
                raise FixableInputError(fault.what, AS_N, where=where, cure=fault.cure) from None
            raise UnusableError(fault.what, where=where, cure=fault.cure) from None
    return structures


def _one_structure(structure: str, letters: str) -> str:
    if not structure:
        raise UnusableError("the structure is empty", cure="give every base a dot or a bracket")
    bracket_pairs(structure)
    if len(structure) != len(letters):
        raise UnusableError(
            f"the structure has {len(structure):,} characters and the sequence {len(letters):,}"
            " letters",
            cure="give every letter one character of structure",
        )
    return normalize_structure(structure)


def _findings(letters: pd.Series, structures: np.ndarray, shape: StructuredLayout) -> list[Finding]:
    return [*_lost_pair_findings(letters, structures, ""), *_ambiguity_findings(letters, shape, "")]


def _ambiguity_findings(letters: pd.Series, shape: StructuredLayout, prefix: str) -> list[Finding]:
    counts = letters.astype(str).map(ambiguous_letters)
    if not counts.any():
        return []
    total, molecule_count = int(counts.sum()), int((counts > 0).sum())
    stand = "1 letter stands" if total == 1 else f"{total:,} letters stand"
    sentence = (
        f"{prefix}{stand} for several bases (such as R or Y), in {molecule_count:,} of "
        f"{len(counts):,} molecules, and {'is' if total == 1 else 'are'} read as N."
    )
    return [Finding(sentence, shape.sequence)]


def _lost_pair_findings(letters: pd.Series, structures: np.ndarray, prefix: str) -> list[Finding]:
    total, by_kind = dropped_pairs(letters.tolist(), structures.tolist())
    lost = sum(by_kind.values())
    if total == lost:
        fault = "every base pair is one that cannot be learned" if total else "no base is paired"
        words = f"{prefix}{fault}, so there is no structure to learn."
        return [Finding(words[0].upper() + words[1:], serious=True)]
    if not lost:
        return []
    kinds = "; ".join(f"{n:,} {_WORDS[kind]}" for kind, n in by_kind.items() if n)
    return [
        Finding(
            f"{prefix}{lost:,} of {total:,} base pairs cannot be made by the grammar and are left"
            f" out: {kinds}."
        )
    ]
