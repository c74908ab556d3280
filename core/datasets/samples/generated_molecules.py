"""Generated RNA molecules: random helices and loops, with letters that follow the structure."""

from __future__ import annotations

import numpy as np
import pandas as pd

MOLECULES = 60
SHORTEST, LONGEST = 30, 80  # bases
NOISE = 0.04  # share of unpaired bases drawn anew; half of it for paired ones
_PAIRS = (("GC", 0.34), ("CG", 0.3), ("AU", 0.14), ("UA", 0.14), ("GU", 0.05), ("UG", 0.03))
_UNPAIRED = {"A": 0.46, "U": 0.24, "G": 0.16, "C": 0.14}
_CANONICAL = {pair for pair, _ in _PAIRS}


def molecules_table() -> pd.DataFrame:
    """60 molecules of 30 to 80 bases: names, letters, structures of AU, CG and GU pairs."""
    rng = np.random.default_rng(19650319)
    rows: list[tuple[str, str, str]] = []
    while len(rows) < MOLECULES:
        structure = _structure(rng)
        if SHORTEST <= len(structure) <= LONGEST:
            rows.append((f"made-{len(rows) + 1:02d}", _letters(rng, structure), structure))
    return pd.DataFrame(rows, columns=["id", "sequence", "structure"]).astype("str")


def _unpaired_run(rng: np.random.Generator, low: int, high: int) -> str:
    return "." * int(rng.integers(low, high + 1))


def _structure(rng: np.random.Generator) -> str:
    stems = int(rng.choice([1, 2, 3], p=[0.45, 0.4, 0.15]))
    pieces = [_unpaired_run(rng, 0, 6)]
    for _ in range(stems):
        pieces += [_random_stem(rng, depth=0), _unpaired_run(rng, 1, 6)]
    return "".join(pieces)


def _random_stem(rng: np.random.Generator, depth: int) -> str:
    pairs = int(rng.integers(3, 9))
    kind = rng.choice(["hairpin", "bulge", "loop", "branch"], p=[0.5, 0.15, 0.2, 0.15])
    if depth == 2 or kind == "hairpin":
        inner = _unpaired_run(rng, 3, 8)
    elif kind == "bulge":
        inner = _unpaired_run(rng, 1, 3) + _random_stem(rng, depth + 1)
    elif kind == "loop":
        inner = _unpaired_run(rng, 1, 4) + _random_stem(rng, depth + 1) + _unpaired_run(rng, 1, 4)
    else:
        branches = [_random_stem(rng, 2) + _unpaired_run(rng, 0, 2) for _ in range(2)]
        inner = _unpaired_run(rng, 0, 2) + "".join(branches)
    return "(" * pairs + inner + ")" * pairs


def _letters(rng: np.random.Generator, structure: str) -> str:
    kinds, chances = zip(*_PAIRS, strict=True)
    bases, weights = list(_UNPAIRED), list(_UNPAIRED.values())
    letters = [str(letter) for letter in rng.choice(bases, len(structure), p=weights)]
    open_positions: list[int] = []
    for position, sign in enumerate(structure):
        if sign == "(":
            open_positions.append(position)
        elif sign == ")":
            partner = open_positions.pop()
            letters[partner], letters[position] = list(str(rng.choice(kinds, p=chances)))
            changed = letters[partner] + str(rng.choice(list("ACGU")))
            if rng.random() < NOISE / 2 and changed in _CANONICAL:
                letters[position] = changed[1]
        elif rng.random() < NOISE:
            letters[position] = str(rng.choice(list("ACGU")))
    return "".join(letters)
