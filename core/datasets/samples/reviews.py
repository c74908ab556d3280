"""Generated reviews: sentences, what was bought, its price, and a verdict.

A sentence fits the verdict nine times in ten; one in six denies the opposite ("never punctual").
"""

from __future__ import annotations

import numpy as np
import pandas as pd

REVIEWS = 500
_THINGS = {
    "book": "cover story paper chapter picture parcel",
    "lamp": "switch cable shade light stand parcel",
    "shoes": "sole lace heel leather colour parcel",
    "teapot": "handle lid spout glaze shape parcel",
}
_PRAISE = "lovely sturdy punctual flawless elegant generous cheerful pleasant careful splendid"
_BLAME = "broken flimsy late scratched ugly stingy gloomy annoying careless dreadful"
_OPENINGS = ("Bought it in spring.", "A present for my aunt.", "My second one.", "Ordered twice.")
_FORMS = ("The {thing} was {word}.", "I found the {thing} {word}.", "Such a {word} {thing}!")


def reviews_table() -> pd.DataFrame:
    """500 reviews of two to six sentences."""
    rng = np.random.default_rng(20261122)
    praise, blame = _PRAISE.split(), _BLAME.split()
    rows = []
    for _ in range(REVIEWS):
        bought = str(rng.choice(list(_THINGS)))
        content = bool(rng.integers(2))
        sentences = [str(rng.choice(_OPENINGS))]
        for _ in range(rng.integers(2, 6)):
            kind = content if rng.random() < 0.9 else not content
            denied = rng.random() < 1 / 6
            word = str(rng.choice(praise if kind != denied else blame))
            aspect = str(rng.choice(_THINGS[bought].split()))
            form = str(rng.choice(_FORMS[:2] if denied else _FORMS))
            sentences.append(form.format(thing=aspect, word=f"never {word}" if denied else word))
        buys_again = content if rng.random() < 14 / 15 else not content
        price = round(float(rng.lognormal(3.0, 0.4)), 2)
        rows.append((bought, price, " ".join(sentences), "yes" if buys_again else "no"))
    table = pd.DataFrame(rows, columns=["bought", "price", "review", "buys_again"])
    return table.astype(dict.fromkeys(("bought", "review", "buys_again"), "str"))
