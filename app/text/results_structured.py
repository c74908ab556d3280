"""What the results say of sequences and molecules, in words."""

from __future__ import annotations

from typing import Any


def sequences_in_words(sequences: dict[str, Any]) -> str:
    """How many whole sequences are right."""
    words = (
        "It labels {tuned} of {count} sequences without any error, the default setting {default}."
    )
    return words.format(**sequences)


def pairs_in_words(pairs: dict[str, Any]) -> tuple[str, ...]:
    """How many base pairs each setting finds, and how many it calls wrongly."""
    words = (
        "On {molecules} test molecules the tuned model finds {right} of {true} true base pairs; "
        "{right} of the {called} pairs that it calls are right."
    )
    other = "The default setting finds {right}; {right} of the {called} it calls are right."
    return (
        words.format(molecules=pairs["molecules"], **pairs["tuned"]),
        other.format(**pairs["default"]),
    )


def found_in_short(counts: dict[str, int]) -> str:
    """Sensitivity and specificity of one setting: "finds 62 of 100 true base pairs; …"."""
    words = "Finds {found} of 100 true base pairs; {right} of 100 called pairs are right"
    return words.format(
        found=_of_hundred(counts["right"], counts["true"]),
        right=_of_hundred(counts["right"], counts["called"]),
    )


def _of_hundred(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f}" if whole else "–"
