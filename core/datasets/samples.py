"""The sample datasets: scikit-learn's, and those that packaging/make_samples.py has made."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files

import pandas as pd

from core.datasets.dataset import Dataset, DataSource
from core.datasets.files.delimited_rows import SAMPLE_ROWS
from core.datasets.raw_table import NO_CHOICES, DataOptions, FormatOptions, RawTable, with_formats
from core.datasets.task import Task
from core.datasets.understanding.dataset_from_table import assemble, roles_of_rows
from core.datasets.understanding.structured_tables import detect_layout, matches_layout


@dataclass(frozen=True)
class Sample:
    """A sample dataset."""

    name: str  # behind "sample:"
    title: str
    task: Task
    target: str  # "" for topics
    table: Callable[[], pd.DataFrame]  # makes the raw table, always the same
    sentence: str  # what it is and what to try

    def read(self, choices: DataOptions = NO_CHOICES) -> Dataset:
        table = self.table()
        # A sample has no file; its fingerprint is of what `to_csv` would write.
        lines = table.to_csv(index=False).encode()
        source = DataSource("", "sample", fingerprint=hashlib.sha256(lines).hexdigest())
        target = choices.target or self.target
        task = choices.task or (self.task if target == self.target else "")
        choices = replace(choices, target=target, task=task)
        head = table.head(SAMPLE_ROWS)
        cells = {str(c): head[c].dropna().astype(str).tolist() for c in table.columns}
        shape = detect_layout(cells, target, task, choices.roles)
        raw_table = RawTable(self.name, table, source, line_of=lambda row: row + 2)
        if shape is not None and matches_layout(shape, table):
            return assemble(raw_table, shape, choices)
        options = FormatOptions(choices.kinds, choices.readings, None, target)
        return assemble(with_formats(raw_table, options), None, roles_of_rows(cells, choices))


def _stored(name: str, **dtypes: str) -> pd.DataFrame:
    with (files("resources") / "samples" / f"{name}.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file, dtype=dtypes, keep_default_na=False, na_values=[""])


def _bundled(name: str) -> pd.DataFrame:
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")(as_frame=True)
    table: pd.DataFrame = bunch.frame.copy()
    if name == "breast_cancer":  # like "mean radius", so that the prefix is a group
        table.columns = [re.sub(r"^(.*) error$", r"error \1", str(c)) for c in table.columns]
    if name in ("iris", "wine", "breast_cancer"):
        words = [str(word) for word in bunch.target_names]
        table["target"] = pd.Series([words[code] for code in table["target"]], dtype="str")
    return table


_SENTENCES = {
    "groups": "400 made-up people in two classes. Blood and lifestyle values matter, four groups "
    "of noise do not: watch the penalties find out.",
    "breast-cancer": "569 tumours, benign or malignant, by 30 measurements of cell nuclei in "
    "three groups: mean, error and worst.",
    "iris": "150 flowers of three species by four lengths. Small and quick.",
    "wine": "178 wines from three growers by 13 chemical values.",
    "digits": "1,797 pictures of 8 by 8 pixels, ten classes. A deep latent Gaussian model draws "
    "more of them.",
    "diabetes": "442 patients; how far the disease went in a year, by ten values.",
    "clinic": "600 made-up visits with categories, dates, yes and no, and missing values: will "
    "the patient come back?",
    "prices": "500 made-up flats; the price by size, place and thirty values of no use.",
    "reviews": "500 made-up reviews with what was bought and its price: which words tell who buys "
    "again?",
    "tags": "300 made-up sentences, a tag for every word. Two columns are noise: give every "
    "column its own penalty and see.",
    "molecules": "60 made-up RNA molecules with their base pairs: learn how letters fold.",
    "texts": "400 made-up texts about ten subjects, most of them about one or two: which words "
    "belong together?",
}
_ROWS = (
    ("groups", "Useful and useless groups", Task.BINARY, "ill", partial(_stored, "groups")),
    ("breast-cancer", "Breast cancer", Task.BINARY, "target", partial(_bundled, "breast_cancer")),
    ("iris", "Iris flowers", Task.MULTICLASS, "target", partial(_bundled, "iris")),
    ("wine", "Wines", Task.MULTICLASS, "target", partial(_bundled, "wine")),
    ("digits", "Handwritten digits", Task.MULTICLASS, "target", partial(_bundled, "digits")),
    ("diabetes", "Diabetes", Task.REGRESSION, "target", partial(_bundled, "diabetes")),
    ("clinic", "A clinic's raw table", Task.BINARY, "came_back", partial(_stored, "clinic")),
    ("prices", "Flat prices", Task.REGRESSION, "price", partial(_stored, "prices")),
    ("reviews", "Reviews", Task.BINARY, "buys_again", partial(_stored, "reviews")),
    ("tags", "Parts of speech", Task.SEQUENCE, "tag", partial(_stored, "tags", sequence="str")),
    ("molecules", "Folded molecules", Task.STRUCTURE, "structure", partial(_stored, "molecules")),
    ("texts", "Short texts", Task.TOPICS, "", partial(_stored, "texts")),
)
SAMPLES = {row[0]: Sample(*row, _SENTENCES[row[0]]) for row in _ROWS}
