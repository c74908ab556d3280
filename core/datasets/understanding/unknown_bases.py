"""Letters of molecules that are no bases, read as N on request."""

from __future__ import annotations

import re
from dataclasses import replace

from core.datasets.finding import Finding, SuggestedChange
from core.datasets.molecules import AMBIGUOUS
from core.datasets.raw_table import RawTable

AS_N = SuggestedChange("Read other letters as N", "--other-letters", fields={"other_letters": True})
_OTHER = re.compile(f"[^ACGUTN{AMBIGUOUS}]", re.IGNORECASE)


def replace_unknown_bases(
    raw_table: RawTable, column: str, prefix: str = ""
) -> tuple[RawTable, list[Finding]]:
    """The table with N for letters that are no base, and a finding that begins with `prefix`."""
    values = raw_table.table[column]
    stripped = values.where(values.isna(), values.astype(str).str.strip())
    counts = [0 if text != text or text is None else len(_OTHER.findall(text)) for text in stripped]
    total, molecule_count = sum(counts), sum(count > 0 for count in counts)
    if not total:
        return raw_table, []
    first = next(_OTHER.search(text) for text, count in zip(stripped, counts, strict=True) if count)
    letter = first.group() if first else ""
    letters = stripped.map(lambda text: _OTHER.sub("N", text), na_action="ignore")
    noun, verb = ("letter is", "is") if total == 1 else ("letters are", "are")
    sentence = (
        f"{prefix}{total:,} {noun} none of the bases (such as “{letter}”), in {molecule_count:,} of"
        f" {len(counts):,} molecules, and {verb} read as N."
    )
    table = raw_table.table.assign(**{column: letters})
    return replace(raw_table, table=table), [Finding(sentence, column)]
