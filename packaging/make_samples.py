"""Makes the sample datasets with a known truth: resources/samples/NAME.csv.

Run ``python packaging/make_samples.py`` after a change here. The tables are kept as files, so that
a sample is the same, to its SHA-256, with every version of NumPy.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = Path(__file__).resolve().parent.parent / "resources" / "samples"

# Generated sample tables: deterministic, with a known truth.

# Weights of the truth behind the sample "groups"; every column that is not here has weight 0.
GROUPS_TRUTH = {
    **{"blood_pressure": 1.1, "blood_sugar": 1.0, "blood_iron": -0.9, "blood_fat": 0.8},
    **{"blood_salt": -0.7, "lifestyle_sport": -0.8, "lifestyle_sleep": -0.6},
    **{"lifestyle_smoking": 0.9, "lifestyle_stress": 0.5},
}
NOISE_GROUPS = {"noise_a": 10, "gene": 40, "weather": 12, "stars": 8}


def groups_table() -> pd.DataFrame:
    """400 rows, two classes, y ~ Bernoulli(σ(xᵀw)), w as in GROUPS_TRUTH, x standard normal."""
    rng = np.random.default_rng(20080704)
    rows = 400
    names = list(GROUPS_TRUTH)
    for group, count in NOISE_GROUPS.items():
        names += [f"{group.replace('_', '')}_{i + 1}" for i in range(count)]
    values = rng.standard_normal((rows, len(names))).round(4)
    weights = np.array([GROUPS_TRUTH.get(name, 0.0) for name in names])
    ill = rng.random(rows) < 1 / (1 + np.exp(-1.5 * values @ weights))
    table = pd.DataFrame(values, columns=names)
    table["ill"] = pd.Series(np.where(ill, "yes", "no"), dtype="str")
    return table


def prices_table() -> pd.DataFrame:
    """500 rows; price = 3 area + 25 rooms − 4 distance + floor effects + noise of size 20."""
    rng = np.random.default_rng(19691009)
    rows = 500
    area = rng.uniform(25, 160, rows).round(1)
    rooms = np.clip(np.round(area / 28 + rng.normal(0, 0.7, rows)), 1, 7).astype(int)
    place_km = rng.gamma(2.0, 3.0, rows).round(2)
    floor = rng.integers(0, 9, rows)
    noise = rng.standard_normal((rows, 30)).round(3)
    price = 3 * area + 25 * rooms - 4 * place_km + 1.5 * floor + rng.normal(0, 20, rows)
    table = pd.DataFrame(
        {"flat_area": area, "flat_rooms": rooms, "flat_floor": floor, "place_distance": place_km}
    )
    for i in range(30):
        table[f"noise_{i + 1}"] = noise[:, i]
    table["price"] = price.round(1)
    return table


def clinic_table() -> pd.DataFrame:
    """600 visits: categories (one rare), dates, yes/no, an identifier, 3 to 20 % missing."""
    rng = np.random.default_rng(18540110)
    rows = 600
    age = np.clip(rng.normal(52, 18, rows), 1, 98).round(0)
    ward = rng.choice(
        ["surgery", "eyes", "heart", "children", "burns"], rows, p=[0.34, 0.28, 0.26, 0.11, 0.01]
    )
    smoker = rng.choice(["yes", "no"], rows, p=[0.3, 0.7])
    days = rng.integers(0, 730, rows)
    visit = np.datetime64("2022-01-01") + days.astype("timedelta64[D]")
    pressure = (rng.normal(118, 14, rows) + 0.25 * age).round(0)
    waiting = rng.gamma(2.0, 14.0, rows).round(1)
    drive = (
        0.03 * (age - 52)
        + 0.9 * (ward == "heart")
        - 0.8 * (ward == "eyes")
        + 0.7 * (smoker == "yes")
        + 0.02 * (pressure - 131)
        - 0.02 * (waiting - 28)
        + 0.001 * (days - 365)
    )
    came_back = rng.random(rows) < 1 / (1 + np.exp(-1.3 * drive))
    table = pd.DataFrame(
        {
            "visit_id": [f"V{i:05d}" for i in rng.permutation(rows)],
            "visit_date": np.datetime_as_string(visit, unit="D"),
            "age": age,
            "ward": ward,
            "smoker": smoker,
            "blood_pressure": pressure,
            "waiting_minutes": waiting,
            "country": "NL",
            "came_back": np.where(came_back, "yes", "no"),
        }
    )
    holes = {"ward": 0.03, "smoker": 0.1, "blood_pressure": 0.2, "visit_date": 0.03}
    for name, share in holes.items():
        table[name] = table[name].mask(rng.random(rows) < share)
    texts = ("visit_id", "visit_date", "ward", "smoker", "country", "came_back")
    return table.astype(dict.fromkeys(texts, "str"))


# Generated reviews: sentences, what was bought, its price, and a verdict.
#
# A sentence fits the verdict nine times in ten; one in six denies the opposite ("never punctual").

REVIEWS = 500
THINGS = {
    "book": "cover story paper chapter picture parcel",
    "lamp": "switch cable shade light stand parcel",
    "shoes": "sole lace heel leather colour parcel",
    "teapot": "handle lid spout glaze shape parcel",
}
PRAISE = "lovely sturdy punctual flawless elegant generous cheerful pleasant careful splendid"
BLAME = "broken flimsy late scratched ugly stingy gloomy annoying careless dreadful"
OPENINGS = ("Bought it in spring.", "A present for my aunt.", "My second one.", "Ordered twice.")
REVIEW_FORMS = ("The {thing} was {word}.", "I found the {thing} {word}.", "Such a {word} {thing}!")


def reviews_table() -> pd.DataFrame:
    """500 reviews of two to six sentences."""
    rng = np.random.default_rng(20261122)
    praise, blame = PRAISE.split(), BLAME.split()
    rows = []
    for _ in range(REVIEWS):
        bought = str(rng.choice(list(THINGS)))
        content = bool(rng.integers(2))
        sentences = [str(rng.choice(OPENINGS))]
        for _ in range(rng.integers(2, 6)):
            kind = content if rng.random() < 0.9 else not content
            denied = rng.random() < 1 / 6
            word = str(rng.choice(praise if kind != denied else blame))
            aspect = str(rng.choice(THINGS[bought].split()))
            form = str(rng.choice(REVIEW_FORMS[:2] if denied else REVIEW_FORMS))
            sentences.append(form.format(thing=aspect, word=f"never {word}" if denied else word))
        buys_again = content if rng.random() < 14 / 15 else not content
        price = round(float(rng.lognormal(3.0, 0.4)), 2)
        rows.append((bought, price, " ".join(sentences), "yes" if buys_again else "no"))
    table = pd.DataFrame(rows, columns=["bought", "price", "review", "buys_again"])
    return table.astype(dict.fromkeys(("bought", "review", "buys_again"), "str"))


# A generated tagged text: a small grammar, made-up words, and two columns of noise.

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
WORDS = {
    "DET": ("the", "a", "this", "every", "no"),
    "PRON": ("she", "he", "it", "they", "this", "no"),
    "PREP": ("in", "on", "by", "to", "over", "before"),
    "END": (".", "!", "?"),
}
# Endings and number of stems of a tag; some endings are shared.
ENDINGS = {
    "ADJ": (("ous", "ish", "al", ""), 60),
    "NOUN": (("ness", "er", "s", "al", ""), 120),
    "VERB": (("ed", "s", "ing", "er", ""), 90),
    "ADV": (("ly", "ly", "er", ""), 30),
}
STEMS = 140  # shared by tags, so that a stem alone does not determine the tag
LONGEST_SENTENCE = 20


def tags_table() -> pd.DataFrame:
    """300 sentences: tags form a Markov chain (FOLLOWS), words depend on the tag alone."""
    rng = np.random.default_rng(19680411)
    words = _words_by_tag(rng)
    rows: list[tuple[int, str, str, str, str, str, str]] = []
    days = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
    for sentence in range(1, SENTENCES + 1):
        tags = _tags_of_sentence(rng)
        for position, tag in enumerate(tags):
            word = str(rng.choice(words[tag]))
            shape = _word_shape(word, first=position == 0)
            weekday, shelf = str(rng.choice(days)), f"s{rng.integers(1, 41)}"
            rows.append((sentence, word, word[-2:], shape, weekday, shelf, tag))
    names = ["sequence", "word", "suffix", "shape", "weekday", "shelf", "tag"]
    table = pd.DataFrame(rows, columns=names)
    return table.astype(dict.fromkeys(names, "str"))


def _tags_of_sentence(rng: np.random.Generator) -> list[str]:
    while True:
        tags: list[str] = []
        tag = "START"
        while tag != "END" and len(tags) < LONGEST_SENTENCE:
            tag = str(rng.choice(list(FOLLOWS[tag]), p=list(FOLLOWS[tag].values())))
            tags.append(tag)
        # What grows too long is drawn anew: cut off, it would end in the midst of a sentence.
        if tag == "END":
            return tags


def _words_by_tag(rng: np.random.Generator) -> dict[str, list[str]]:
    stems = _random_stems(rng)
    words: dict[str, list[str]] = {}
    for tag in TAGS:
        if tag in ENDINGS:
            endings, count = ENDINGS[tag]
            chosen = rng.choice(stems, count, replace=False)
            tag_words = [str(stem) + str(rng.choice(endings)) for stem in chosen]
        elif tag == "NUM":
            tag_words = [str(number) for number in rng.integers(2, 2000, 60)]
        else:
            tag_words = list(WORDS[tag])
        words[tag] = [word for k, word in enumerate(tag_words) for _ in range(1 + 30 // (k + 1))]
    return words


def _random_stems(rng: np.random.Generator) -> list[str]:
    heads, tails = ("b", "d", "f", "gr", "k", "l", "m", "pl", "st", "t"), ("n", "l", "rk", "m", "t")
    stems: dict[str, None] = {}
    while len(stems) < STEMS:
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


# Generated RNA molecules: random helices and loops, with letters that follow the structure.

MOLECULES = 60
SHORTEST_MOLECULE, LONGEST_MOLECULE = 30, 80  # bases
NOISE = 0.04  # share of unpaired bases drawn anew; half of it for paired ones
PAIRS = (("GC", 0.34), ("CG", 0.3), ("AU", 0.14), ("UA", 0.14), ("GU", 0.05), ("UG", 0.03))
UNPAIRED = {"A": 0.46, "U": 0.24, "G": 0.16, "C": 0.14}
CANONICAL = {pair for pair, _ in PAIRS}


def molecules_table() -> pd.DataFrame:
    """60 molecules of 30 to 80 bases: names, letters, structures of AU, CG and GU pairs."""
    rng = np.random.default_rng(19650319)
    rows: list[tuple[str, str, str]] = []
    while len(rows) < MOLECULES:
        structure = _random_structure(rng)
        if SHORTEST_MOLECULE <= len(structure) <= LONGEST_MOLECULE:
            rows.append((f"made-{len(rows) + 1:02d}", _letters_of(rng, structure), structure))
    return pd.DataFrame(rows, columns=["id", "sequence", "structure"]).astype("str")


def _unpaired_run(rng: np.random.Generator, low: int, high: int) -> str:
    return "." * int(rng.integers(low, high + 1))


def _random_structure(rng: np.random.Generator) -> str:
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


def _letters_of(rng: np.random.Generator, structure: str) -> str:
    kinds, chances = zip(*PAIRS, strict=True)
    bases, weights = list(UNPAIRED), list(UNPAIRED.values())
    letters = [str(letter) for letter in rng.choice(bases, len(structure), p=weights)]
    open_positions: list[int] = []
    for position, sign in enumerate(structure):
        if sign == "(":
            open_positions.append(position)
        elif sign == ")":
            partner = open_positions.pop()
            letters[partner], letters[position] = list(str(rng.choice(kinds, p=chances)))
            changed = letters[partner] + str(rng.choice(list("ACGU")))
            if rng.random() < NOISE / 2 and changed in CANONICAL:
                letters[position] = changed[1]
        elif rng.random() < NOISE:
            letters[position] = str(rng.choice(list("ACGU")))
    return "".join(letters)


# Generated short texts of readable words from a known topic model.
#
# θ ~ Dirichlet(0.12) over ten subjects; a content word is drawn by θ, or one in four is everyday.

TEXTS = 400
MIXING = 0.12  # of the Dirichlet distribution of subjects
EVERYDAY_SHARE = 0.25
TEXT_SENTENCES = (8, 20)

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
TEXT_FORMS = (
    "The {kind} {thing} {doing} before the {thing}.",
    "She {doing} with the {thing} and a {thing}.",
    "They {doing} because the {thing} was {kind}.",
    "A {thing} beside the {thing} {doing} again.",
    "After the {thing}, he {doing} for the {kind} {thing}.",
    "Every {thing} there {doing}, but not the {thing}.",
)
SLOTS = ("thing", "doing", "kind")


def texts_table() -> pd.DataFrame:
    """400 texts of 8 to 20 sentences, numbered."""
    rng = np.random.default_rng(20170118)
    subjects = [_weighted_words(lists) for lists in SUBJECTS.values()]
    everyday = _weighted_words(EVERYDAY)
    rows = []
    for number in range(1, TEXTS + 1):
        theta = rng.dirichlet(np.full(len(subjects), MIXING))
        forms = rng.integers(len(TEXT_FORMS), size=rng.integers(*TEXT_SENTENCES, endpoint=True))
        template = " ".join(TEXT_FORMS[form] for form in forms)

        def draw_word(slot: re.Match[str], theta: np.ndarray = theta) -> str:
            vocabulary = everyday
            if rng.random() >= EVERYDAY_SHARE:
                vocabulary = subjects[rng.choice(len(subjects), p=theta)]
            words, shares = vocabulary[slot[1]]
            return str(rng.choice(words, p=shares))

        text = re.sub(r"\{(\w+)\}", draw_word, template)
        rows.append((number, re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", text)))
    return pd.DataFrame(rows, columns=["id", "text"]).astype({"text": "str"})


def _weighted_words(lists: tuple[str, str, str]) -> dict[str, tuple[list[str], np.ndarray]]:
    by_slot = {}
    for slot, words in zip(SLOTS, lists, strict=True):
        slot_words = words.split()
        weights = 1.0 / (np.arange(len(slot_words)) + 3.0)
        by_slot[slot] = (slot_words, weights / weights.sum())
    return by_slot


TABLES = {
    "groups": groups_table,
    "clinic": clinic_table,
    "prices": prices_table,
    "reviews": reviews_table,
    "tags": tags_table,
    "molecules": molecules_table,
    "texts": texts_table,
}

if __name__ == "__main__":
    for name, make_table in TABLES.items():
        make_table().to_csv(FOLDER / f"{name}.csv", index=False)
