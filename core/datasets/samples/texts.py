"""Generated short texts of readable words from a known topic model.

θ ~ Dirichlet(0.12) over ten subjects; a content word is drawn by θ, or one in four is everyday.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

TEXTS = 400
MIXING = 0.12  # of the Dirichlet distribution of subjects
_EVERYDAY = 0.25
_SENTENCES = (8, 20)

# subject: (things, doings, kinds), the most frequent first
SUBJECTS: dict[str, tuple[str, str, str]] = {
    "sea": (
        "ship harbour captain wave sailor anchor island tide storm lighthouse crew deck",
        "sailed crossed steered moored drifted",
        "deep salty rough distant",
    ),
    "kitchen": (
        "soup bread onion butter oven recipe spoon flour pepper garlic plate sauce",
        "baked cooked tasted stirred peeled",
        "fresh spicy sweet warm",
    ),
    "stars": (
        "planet star telescope moon galaxy comet orbit astronomer eclipse gravity rocket dust",
        "observed orbited measured shone launched",
        "bright cosmic faint round",
    ),
    "football": (
        "goal team match ball coach referee stadium league player season penalty striker",
        "scored played defended passed kicked",
        "fast fair final local",
    ),
    "music": (
        "song orchestra violin concert melody piano rhythm audience singer guitar choir drum",
        "sang performed rehearsed listened composed",
        "loud quiet famous slow",
    ),
    "railway": (
        "train station ticket platform track engine conductor passenger carriage bridge tunnel",
        "departed travelled waited stopped delayed",
        "crowded late northern steep",
    ),
    "hospital": (
        "doctor patient nurse fever medicine surgery blood clinic vaccine heart disease pulse",
        "treated healed examined prescribed recovered",
        "healthy sick serious careful",
    ),
    "garden": (
        "flower tree soil seed rose leaf root bee apple spade hedge rain",
        "planted watered grew bloomed pruned",
        "green wild sunny ripe",
    ),
    "money": (
        "bank price market loan interest profit tax budget investor share debt account",
        "paid sold invested borrowed earned",
        "expensive annual cheap risky",
    ),
    "court": (
        "judge law trial witness lawyer verdict jury crime evidence prison sentence police",
        "accused testified argued appealed convicted",
        "guilty innocent legal public",
    ),
}
EVERYDAY = (
    "morning people year house friend day question story road evening family letter",
    "began found wanted said remembered",
    "small old good long",
)
_FORMS = (
    "The {kind} {thing} {doing} before the {thing}.",
    "She {doing} with the {thing} and a {thing}.",
    "They {doing} because the {thing} was {kind}.",
    "A {thing} beside the {thing} {doing} again.",
    "After the {thing}, he {doing} for the {kind} {thing}.",
    "Every {thing} there {doing}, but not the {thing}.",
)
_SLOTS = ("thing", "doing", "kind")


def texts_table() -> pd.DataFrame:
    """400 texts of 8 to 20 sentences, numbered."""
    rng = np.random.default_rng(20170118)
    subjects = [_weighted_words(lists) for lists in SUBJECTS.values()]
    everyday = _weighted_words(EVERYDAY)
    rows = []
    for number in range(1, TEXTS + 1):
        theta = rng.dirichlet(np.full(len(subjects), MIXING))
        forms = rng.integers(len(_FORMS), size=rng.integers(*_SENTENCES, endpoint=True))
        template = " ".join(_FORMS[form] for form in forms)

        def draw_word(slot: re.Match[str], theta: np.ndarray = theta) -> str:
            vocabulary = everyday
            if rng.random() >= _EVERYDAY:
                vocabulary = subjects[rng.choice(len(subjects), p=theta)]
            words, shares = vocabulary[slot[1]]
            return str(rng.choice(words, p=shares))

        text = re.sub(r"\{(\w+)\}", draw_word, template)
        rows.append((number, re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", text)))
    return pd.DataFrame(rows, columns=["id", "text"]).astype({"text": "str"})


def _weighted_words(lists: tuple[str, str, str]) -> dict[str, tuple[list[str], np.ndarray]]:
    by_slot = {}
    for slot, words in zip(_SLOTS, lists, strict=True):
        slot_words = words.split()
        weights = 1.0 / (np.arange(len(slot_words)) + 3.0)
        by_slot[slot] = (slot_words, weights / weights.sum())
    return by_slot
