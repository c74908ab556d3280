"""A generated tagged text: a small grammar, made-up words, and two columns of noise."""

from __future__ import annotations

import numpy as np
import pandas as pd

SENTENCES = 300
TAGS = ("DET", "ADJ", "NOUN", "PRON", "VERB", "ADV", "PREP", "NUM", "END")
# Probabilities of the next tag; "START" begins a sentence.
FOLLOWS: dict[str, dict[str, float]] = {
    "START": {"DET": 0.5, "PRON": 0.3, "ADV": 0.1, "NUM": 0.1},
    "DET": {"NOUN": 0.6, "ADJ": 0.35, "NUM": 0.05},
    "ADJ": {"NOUN": 0.8, "ADJ": 0.2},
    "NOUN": {"VERB": 0.45, "PREP": 0.25, "END": 0.25, "ADV": 0.05},
    "PRON": {"VERB": 0.8, "ADV": 0.2},
    "VERB": {"DET": 0.35, "PREP": 0.2, "ADV": 0.2, "PRON": 0.1, "END": 0.15},
    "ADV": {"VERB": 0.4, "ADJ": 0.2, "END": 0.3, "PREP": 0.1},
    "PREP": {"DET": 0.65, "NUM": 0.15, "PRON": 0.2},
    "NUM": {"NOUN": 0.8, "ADJ": 0.2},
}
_WORDS = {
    "DET": ("the", "a", "this", "every", "no"),
    "PRON": ("she", "he", "it", "they", "this", "no"),
    "PREP": ("in", "on", "by", "to", "over", "before"),
    "END": (".", "!", "?"),
}
# Endings and number of stems of a tag; some endings are shared.
_ENDINGS = {
    "ADJ": (("ous", "ish", "al", ""), 60),
    "NOUN": (("ness", "er", "s", "al", ""), 120),
    "VERB": (("ed", "s", "ing", "er", ""), 90),
    "ADV": (("ly", "ly", "er", ""), 30),
}
_STEMS = 140  # shared by tags, so that a stem alone does not determine the tag
_LONGEST = 20


def tags_table() -> pd.DataFrame:
    """300 sentences: tags form a Markov chain (FOLLOWS), words depend on the tag alone."""
    rng = np.random.default_rng(19680411)
    words = _vocabulary(rng)
    rows: list[tuple[int, str, str, str, str, str, str]] = []
    days = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
    for sentence in range(1, SENTENCES + 1):
        tags = _sentence(rng)
        for position, tag in enumerate(tags):
            word = str(rng.choice(words[tag]))
            shape = _word_shape(word, first=position == 0)
            weekday, shelf = str(rng.choice(days)), f"s{rng.integers(1, 41)}"
            rows.append((sentence, word, word[-2:], shape, weekday, shelf, tag))
    names = ["sequence", "word", "suffix", "shape", "weekday", "shelf", "tag"]
    table = pd.DataFrame(rows, columns=names)
    return table.astype(dict.fromkeys(names, "str"))


def _sentence(rng: np.random.Generator) -> list[str]:
    while True:
        tags: list[str] = []
        tag = "START"
        while tag != "END" and len(tags) < _LONGEST:
            tag = str(rng.choice(list(FOLLOWS[tag]), p=list(FOLLOWS[tag].values())))
            tags.append(tag)
        if tag == "END":
            return tags


def _vocabulary(rng: np.random.Generator) -> dict[str, list[str]]:
    stems = _random_stems(rng)
    words: dict[str, list[str]] = {}
    for tag in TAGS:
        if tag in _ENDINGS:
            endings, count = _ENDINGS[tag]
            chosen = rng.choice(stems, count, replace=False)
            tag_words = [str(stem) + str(rng.choice(endings)) for stem in chosen]
        elif tag == "NUM":
            tag_words = [str(number) for number in rng.integers(2, 2000, 60)]
        else:
            tag_words = list(_WORDS[tag])
        words[tag] = [word for k, word in enumerate(tag_words) for _ in range(1 + 30 // (k + 1))]
    return words


def _random_stems(rng: np.random.Generator) -> list[str]:
    heads, tails = ("b", "d", "f", "gr", "k", "l", "m", "pl", "st", "t"), ("n", "l", "rk", "m", "t")
    stems: dict[str, None] = {}
    while len(stems) < _STEMS:
        first, second = rng.choice(heads, 2)
        inner, outer = rng.choice(list("aeiou"), 2)
        stems[f"{first}{inner}{second}{outer}{rng.choice(tails)}"] = None
    return list(stems)


def _word_shape(word: str, *, first: bool) -> str:
    if word.isdigit():
        return "number"
    if not word.isalpha():
        return "sign"
    return "first" if first else "short" if len(word) < 5 else "long"
