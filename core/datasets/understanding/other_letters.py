"""Letters of molecules that are none of the bases: read as N where a person wants it."""

from __future__ import annotations

import re
from dataclasses import replace

from core.datasets.dataset import Finding, Proposal
from core.datasets.molecules import AMBIGUOUS
from core.datasets.raw_table import RawTable

AS_N = Proposal("Read other letters as N", "--other-letters", fields={"other_letters": True})
_OTHER = re.compile(f"[^ACGUTN{AMBIGUOUS}]", re.IGNORECASE)


def as_unknown(read: RawTable, column: str, before: str = "") -> tuple[RawTable, list[Finding]]:
    """The table with N for every letter that is no base, and how many there were.

    Args:
        read: with molecules.
        column: of their letters.
        before: how the sentence begins.
    """
    given = read.table[column]
    stripped = given.where(given.isna(), given.astype(str).str.strip())
    counts = [0 if one != one or one is None else len(_OTHER.findall(one)) for one in stripped]
    total, some = sum(counts), sum(count > 0 for count in counts)
    if not total:
        return read, []
    first = next(_OTHER.search(one) for one, count in zip(stripped, counts, strict=True) if count)
    letter = first.group() if first else ""
    letters = stripped.map(lambda one: _OTHER.sub("N", one), na_action="ignore")
    noun, verb = ("letter is", "is") if total == 1 else ("letters are", "are")
    said = (
        f"{before}{total:,} {noun} none of the bases (such as “{letter}”), in {some:,} of"
        f" {len(counts):,} molecules, and {verb} read as N."
    )
    table = read.table.assign(**{column: letters})
    return replace(read, table=table), [Finding(said, column)]
