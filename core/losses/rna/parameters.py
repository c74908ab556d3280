"""The 708 parameters of the grammar: their names, their order, and the motif each belongs to.

The names are those of CONTRAfold-SE's parameter files; the order is the one of its table. Lengths
are cumulative: a hairpin loop of four bases takes "at least 0" to "at least 4". The 15 motifs are
those of Foo 2009, table 3b, and Do 2008, figure 3b.
"""

from __future__ import annotations

import numpy as np

LETTERS = "ACGU"


def _strings(length: int) -> list[str]:
    """All strings of letters of a length, in alphabetical order."""
    strings = [""]
    for _ in range(length):
        strings = [start + letter for start in strings for letter in LETTERS]
    return strings


def _distinct_strings(strings: list[str], turned: bool) -> list[str]:
    """Those that come first among themselves and their reverse (turned) or sorted form."""
    if turned:
        return [s for s in strings if s <= s[::-1]]
    return [s for s in strings if s == "".join(sorted(s))]


def cumulative_names(name: str, first: int, last: int) -> list[str]:
    """Names of the cumulative parameters of lengths, from the first to the last."""
    return [f"{name}_at_least_{length}" for length in range(first, last + 1)]


_SIZES = [f"internal_explicit_{a}_{b}" for a in range(1, 5) for b in range(a, 5)]
_LAYOUT: tuple[tuple[str, list[str]], ...] = (
    ("base pairings", [f"base_pair_{s}" for s in _distinct_strings(_strings(2), False)]),
    ("terminal mismatch interactions", [f"terminal_mismatch_{s}" for s in _strings(4)]),
    ("hairpin loop lengths", cumulative_names("hairpin_length", 0, 30)),
    ("explicit internal loop sizes", _SIZES),
    ("bulge loop lengths", cumulative_names("bulge_length", 1, 30)),
    ("internal loop lengths", cumulative_names("internal_length", 2, 30)),
    ("symmetric internal loop lengths", cumulative_names("internal_symmetric_length", 1, 15)),
    ("internal loop asymmetry", cumulative_names("internal_asymmetry", 1, 28)),
    ("single base bulge nucleotides", [f"bulge_0x1_nucleotides_{a}" for a in LETTERS]),
    (
        "1x1 internal loop nucleotides",
        [f"internal_1x1_nucleotides_{s}" for s in _distinct_strings(_strings(2), False)],
    ),
    (
        "helix stacking interactions",
        [f"helix_stacking_{s}" for s in _distinct_strings(_strings(4), True)],
    ),
    ("helix closing interactions", [f"helix_closing_{s}" for s in _strings(2)]),
    ("multi-branch loop lengths", ["multi_base", "multi_unpaired", "multi_paired"]),
    (
        "single base pair stacking interactions",
        [f"dangle_{side}_{s}" for side in ("left", "right") for s in _strings(3)],
    ),
    ("external loop lengths", ["external_unpaired", "external_paired"]),
)

MOTIFS: list[str] = [motif for motif, _ in _LAYOUT]
NAMES: list[str] = [name for _, names in _LAYOUT for name in names]
MOTIF_OF: np.ndarray = np.repeat(np.arange(len(_LAYOUT)), [len(names) for _, names in _LAYOUT])
