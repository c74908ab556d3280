"""Sentences whose words tell the tag, for the tests of penalty learners."""

import functools

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="session")
def sentences(tmp_path_factory):
    """The file of so many, with a column of noise or, `unique`, of words that come once."""
    folder = tmp_path_factory.mktemp("sentences")

    @functools.cache
    def written(count: int, *, unique: bool = False) -> str:
        generator, rows = np.random.default_rng(0), []
        for number in range(count):
            tag = generator.integers(3)
            for _ in range(generator.integers(3, 7)):
                tag = (tag + generator.choice([0, 1], p=[0.3, 0.7])) % 3
                word = f"w{tag}{generator.integers(4)}" if generator.random() < 0.8 else "w"
                other = f"u{len(rows)}" if unique else generator.choice(list("xyz"))
                rows.append((f"s{number}", word, other, "ABC"[tag]))
        path = folder / f"tags{count}{unique}.csv"
        columns = ["sequence", "word", "unique" if unique else "noise", "tag"]
        pd.DataFrame(rows, columns=columns).to_csv(path, index=False)
        return str(path)

    return written
