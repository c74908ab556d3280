"""A table of molecules becomes a Dataset: letters of bases, and structures in brackets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from core.datasets.columns import count_distinct
from core.datasets.dataset import Column, Dataset, Kind
from core.datasets.finding import Finding, SuggestedChange
from core.datasets.molecules import (
    AMBIGUOUS,
    CROSSING,
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
from core.datasets.splits.proposals import MIN_GROUPS, family_column
from core.datasets.task import Task, count_text
from core.datasets.understanding.feature_table import dataset_of_rows
from core.datasets.understanding.recognition import StructuredLayout
from core.datasets.understanding.unusable_input import FixableInputError
from core.errors import UnusableError

NAME_COLUMNS = ("id", "name", "molecule", "accession", "family")
AS_N = SuggestedChange("Read other letters as N", "--other-letters", fields={"other_letters": True})
_OTHER = re.compile(f"[^ACGUTN{AMBIGUOUS}]", re.IGNORECASE)
_WORDS = {
    NOT_CANONICAL: "join bases that do not pair (all but AU, CG and GU)",
    SHORT_HAIRPIN: "leave fewer than 3 bases in a hairpin",
    CROSSING: "cross others",
    LONG_LOOP: f"lie at a loop of more than {LONGEST_LOOP} unpaired bases",
}


def from_molecules(raw_table: RawTable, shape: StructuredLayout, choices: DataOptions) -> Dataset:
    """The dataset of a table with one row per molecule; UnusableError names the line of a fault."""
    raw_table, structures, findings = _read_molecules(raw_table, shape, choices.other_letters)
    table, roles = raw_table.table, choices.roles
    if choices.together:
        roles = _roles_with_family(table, roles)
    ids = _name_column(table, shape, roles)
    names = [str(column) for column in table.columns]
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
    return replace(
        part,
        table=raw_table.table[[shape.sequence]],
        target=structures,
        row_names=_molecule_names(raw_table.table, _name_column(raw_table.table, shape, {})),
        findings=tuple(findings),
    )


def _read_molecules(
    raw_table: RawTable, shape: StructuredLayout, other_letters: bool, prefix: str = ""
) -> tuple[RawTable, np.ndarray, list[Finding]]:
    """The table with bases alone, its structures, and findings that begin with `prefix`."""
    findings: list[Finding] = []
    if other_letters:
        raw_table, findings = _replace_unknown_bases(raw_table, shape.sequence, prefix)
    structures = _checked_structures(raw_table, shape)
    letters = raw_table.table[shape.sequence]
    findings += _lost_pair_findings(letters, structures, prefix)
    stand = (
        "stands for several bases (such as R or Y)",
        "stand for several bases (such as R or Y)",
    )
    ambiguous = letters.astype(str).map(ambiguous_letters).tolist()
    findings += _letter_findings(shape.sequence, ambiguous, prefix, stand)
    return raw_table, structures, findings


def _replace_unknown_bases(
    raw_table: RawTable, column: str, prefix: str
) -> tuple[RawTable, list[Finding]]:
    """The table with N for letters that are no base, and a finding."""
    values = raw_table.table[column]
    texts = values.where(values.isna(), values.astype(str).str.strip())
    unknown = [_OTHER.findall(text) for text in texts.fillna("")]
    if not any(unknown):
        return raw_table, []
    letter = next(letters[0] for letters in unknown if letters)
    are = (
        f"is none of the bases (such as “{letter}”)",
        f"are none of the bases (such as “{letter}”)",
    )
    findings = _letter_findings(column, [len(letters) for letters in unknown], prefix, are)
    letters = texts.map(lambda text: _OTHER.sub("N", text), na_action="ignore")
    return replace(raw_table, table=raw_table.table.assign(**{column: letters})), findings


def _letter_findings(
    column: str, counts: list[int], prefix: str, traits: tuple[str, str]
) -> list[Finding]:
    total, molecules = sum(counts), sum(count > 0 for count in counts)
    if not total:
        return []
    sentence = (
        f"{prefix}{count_text(total, 'letter')} {traits[total > 1]}, in {molecules:,} of"
        f" {len(counts):,} molecules, and {'is' if total == 1 else 'are'} read as N."
    )
    return [Finding(sentence, column)]


def _roles_with_family(table: pd.DataFrame, roles: Mapping[str, str]) -> Mapping[str, str]:
    """The roles, and group for a column named as the family, where there are enough."""
    names = [str(name) for name in table.columns]
    name = "" if "group" in roles.values() else family_column(names)
    if not name or name in roles:
        return roles
    enough = MIN_GROUPS <= int(table[name].nunique()) < int(table[name].notna().sum())
    return {**roles, name: "group"} if enough else roles


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
    name, missing, distinct = str(values.name), int(values.isna().sum()), count_distinct(values)
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
    note = "only the letters are learned from"
    if name == name_column:
        kind, note = "identifier", "the name of each molecule"
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
    names = enumerate(table[column], 1)
    return np.array([f"molecule {row}" if pd.isna(name) else str(name) for row, name in names])


def _checked_structures(raw_table: RawTable, shape: StructuredLayout) -> np.ndarray:
    columns = (raw_table.table[name] for name in (shape.sequence, shape.target))
    cells = (values.astype(object).where(values.notna(), "").astype(str) for values in columns)
    structures = []
    for row, (letters, structure) in enumerate(zip(*cells, strict=True)):
        letters, structure = letters.strip(), structure.strip()
        where = f"{raw_table.name}, line {raw_table.line_of(row)}, column {{}}"
        try:
            plain_letters(letters)
        except UnusableError as fault:
            words = {"where": where.format(shape.sequence), "cure": fault.cure}
            if letters:
                raise FixableInputError(fault.what, AS_N, **words) from None
            raise UnusableError(fault.what, **words) from None
        where = where.format(shape.target)
        if not structure:
            cure = "give every base a dot or a bracket"
            raise UnusableError("the structure is empty", where=where, cure=cure)
        structures.append(normalize_structure(structure, where, len(letters)))
    return np.array([*structures, None], dtype=object)[:-1]


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
