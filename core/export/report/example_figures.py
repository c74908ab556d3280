"""Drawings of one example: a labelled sequence as a strip of tokens, a molecule as arcs."""

from __future__ import annotations

from collections.abc import Sequence

from core.datasets.molecules import bracket_pairs
from core.export.report.svg import CHARACTER, SvgDrawing, shorten_name

WIDTH = 980
LETTERS_AT = 7.0  # pixels a base from which its letter is legible


def token_strip(
    tokens: Sequence[str], labels: Sequence[str], truth: Sequence[str], sure: Sequence[float]
) -> str:
    """Tokens with predicted labels and their probabilities (`sure`), and differing true labels."""
    correct_count = sum(label == true for label, true in zip(labels, truth, strict=True))
    drawing = SvgDrawing(
        "One labelled sequence",
        f"{correct_count} of {len(tokens)} tokens are labelled rightly: "
        + " ".join(f"{t}/{label}" for t, label in zip(tokens, labels, strict=True)),
    )
    x, y = 0.0, 4.0
    for token, label, true, share in zip(tokens, labels, truth, sure, strict=True):
        words = (shorten_name(token), label, "" if label == true else true)
        width = 16 + 1.15 * CHARACTER * max(map(len, words))
        if x + width > WIDTH:
            x, y = 0.0, y + 84
        kind = "token" if label == true else "missed"
        drawing.add_bar(x, y, width - 5, 68, kind)
        middle = x + (width - 5) / 2
        drawing.add_text(middle, y + 18, words[0], "name", "middle")
        drawing.add_text(middle, y + 36, label, "tick", "middle")
        if words[2]:
            drawing.add_text(middle, y + 53, words[2], "wrong", "middle")
        drawing.add_bar(x + 4, y + 60, (width - 13) * min(max(share, 0.0), 1.0), 4, "f-series0")
        x += width
    drawing.height = int(y + 80)
    return drawing.to_svg()


def pair_arcs(letters: str, predicted: str, truth: str) -> str:
    """Base pairs as arcs, predicted (dot-bracket) above, true below; solid where in both."""
    predicted_pairs, true_pairs = set(bracket_pairs(predicted)), set(bracket_pairs(truth))
    drawing = SvgDrawing(
        "One folded molecule",
        f"{len(letters)} bases; {len(predicted_pairs)} pairs predicted, {len(true_pairs)} true, "
        f"{len(predicted_pairs & true_pairs)} in both.",
        width=WIDTH,
    )
    step = min(16.0, (WIDTH - 40) / max(len(letters), 1))
    plot_left = (WIDTH - step * max(len(letters) - 1, 0)) / 2
    longest = max((j - i for i, j in predicted_pairs | true_pairs), default=1)
    tallest = min(190.0, step * longest / 2 + 12)
    line = tallest + 24
    drawing.height = int(2 * tallest + 64)
    common_pairs = predicted_pairs & true_pairs
    for pairs, direction in ((predicted_pairs, 1), (true_pairs, -1)):
        base = line if direction > 0 else line + 16
        for i, j in sorted(pairs):
            height = direction * max(8.0, tallest * (j - i) / longest)
            kind = "arc s-series2" if (i, j) in common_pairs else "arc apart s-series1"
            drawing.add_arc(plot_left + step * i, plot_left + step * j, base, height, kind)
    if step >= LETTERS_AT:
        for index, letter in enumerate(letters):
            drawing.add_text(plot_left + step * index, line + 12, letter, "base", "middle")
    else:
        plot_right = plot_left + step * (len(letters) - 1)
        drawing.add_line(plot_left, line + 8, plot_right, line + 8, "axis")
    drawing.add_text(4, 16, "predicted", "name")
    drawing.add_text(4, drawing.height - 8, "true", "name")
    return drawing.to_svg()
