"""Drawings of one example: a labelled sequence as a strip of tokens, a molecule as arcs."""

from __future__ import annotations

from collections.abc import Sequence

from core.datasets.molecules import bracket_pairs
from core.export.report.svg import CHARACTER, Drawing

WIDTH = 980
LETTERS_AT = 7.0  # pixels a base, from which on its letter can be read


def token_strip(
    tokens: Sequence[str], labels: Sequence[str], truth: Sequence[str], sure: Sequence[float]
) -> str:
    """Every token with its label and how sure the model is; the true label below where it differs.

    Args:
        tokens: T words.
        labels: what the model says of each.
        truth: what each is.
        sure: the probability of every label said, 0 to 1.
    """
    right = sum(said == true for said, true in zip(labels, truth, strict=True))
    drawing = Drawing(
        "One labelled sequence",
        f"{right} of {len(tokens)} tokens are labelled rightly: "
        + " ".join(f"{t}/{said}" for t, said in zip(tokens, labels, strict=True)),
    )
    x, y = 0.0, 4.0
    for token, said, true, share in zip(tokens, labels, truth, sure, strict=True):
        words = (_short(token), said, "" if said == true else true)
        width = 16 + 1.15 * CHARACTER * max(map(len, words))
        if x + width > WIDTH:
            x, y = 0.0, y + 84
        kind = "token" if said == true else "missed"
        drawing.bar(x, y, width - 5, 68, kind)
        middle = x + (width - 5) / 2
        drawing.text(middle, y + 18, words[0], "name", "middle")
        drawing.text(middle, y + 36, said, "tick", "middle")
        if words[2]:
            drawing.text(middle, y + 53, words[2], "wrong", "middle")
        drawing.bar(x + 4, y + 60, (width - 13) * min(max(share, 0.0), 1.0), 4, "fill0")
        x += width
    drawing.height = int(y + 80)
    return drawing.svg()


def arcs(letters: str, predicted: str, truth: str) -> str:
    """A molecule's base pairs as arcs: predicted above the letters, true ones below.

    Pairs that both have are solid; those that only one has are dashed.

    Args:
        letters: L bases.
        predicted, truth: structures in dot-bracket notation, L characters each.
    """
    said, true = set(bracket_pairs(predicted)), set(bracket_pairs(truth))
    drawing = Drawing(
        "One folded molecule",
        f"{len(letters)} bases; {len(said)} pairs predicted, {len(true)} true, "
        f"{len(said & true)} in both.",
        width=WIDTH,
    )
    step = min(16.0, (WIDTH - 40) / max(len(letters), 1))
    left = (WIDTH - step * max(len(letters) - 1, 0)) / 2
    longest = max((j - i for i, j in said | true), default=1)
    tallest = min(190.0, step * longest / 2 + 12)
    line = tallest + 24
    drawing.height = int(2 * tallest + 64)
    for pairs, others, way in ((said, true, 1), (true, said, -1)):
        base = line if way > 0 else line + 16
        for i, j in sorted(pairs):
            height = way * max(8.0, tallest * (j - i) / longest)
            kind = "arc c2" if (i, j) in others else "arc apart c1"
            drawing.arc(left + step * i, left + step * j, base, height, kind)
    if step >= LETTERS_AT:
        for place, letter in enumerate(letters):
            drawing.text(left + step * place, line + 12, letter, "base", "middle")
    else:
        drawing.line(left, line + 8, left + step * (len(letters) - 1), line + 8, "axis")
    drawing.text(4, 16, "predicted", "name")
    drawing.text(4, drawing.height - 8, "true", "name")
    return drawing.svg()


def _short(word: str, most: int = 24) -> str:
    return word if len(word) <= most else word[: most - 1] + "…"
