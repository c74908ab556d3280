"""Merges findings of different columns that say the same."""

from __future__ import annotations

from collections.abc import Sequence

from core.datasets.finding import Finding, SuggestedChange

MANY = 6  # columns that are merged into one sentence
_NAMED = 3


def merge_findings(
    findings: Sequence[Finding], sentence: str, words: str, option: str
) -> list[Finding]:
    """The findings, or of many one with all changes; {columns} in `sentence` are names."""
    if len(findings) < MANY:
        return list(findings)
    named = ", ".join(f"“{finding.column}”" for finding in findings[:_NAMED])
    columns = f"{named} and {len(findings) - _NAMED:,} other columns"
    offers = [finding.proposal for finding in findings if finding.proposal is not None]
    offer = None
    if words and len(offers) == len(findings):
        roles = {name: role for suggestion in offers for name, role in suggestion.roles.items()}
        kinds = {name: kind for suggestion in offers for name, kind in suggestion.kinds.items()}
        offer = SuggestedChange(words, option, roles, kinds=kinds)
    merged_sentence = sentence.format(columns=columns)
    return [Finding(merged_sentence, serious=findings[0].serious, proposal=offer)]
