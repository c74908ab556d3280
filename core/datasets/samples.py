"""The sample datasets: scikit-learn's, and those that packaging/make_samples.py has made."""

from __future__ import annotations

import hashlib
import json
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
    task: Task
    target: str  # "" for topics
    table: Callable[[], pd.DataFrame]  # makes the raw table, always the same
    title: str
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


_ROWS = (
    ("groups", Task.BINARY, "ill", partial(_stored, "groups")),
    ("breast-cancer", Task.BINARY, "target", partial(_bundled, "breast_cancer")),
    ("iris", Task.MULTICLASS, "target", partial(_bundled, "iris")),
    ("wine", Task.MULTICLASS, "target", partial(_bundled, "wine")),
    ("digits", Task.MULTICLASS, "target", partial(_bundled, "digits")),
    ("diabetes", Task.REGRESSION, "target", partial(_bundled, "diabetes")),
    ("clinic", Task.BINARY, "came_back", partial(_stored, "clinic")),
    ("prices", Task.REGRESSION, "price", partial(_stored, "prices")),
    ("reviews", Task.BINARY, "buys_again", partial(_stored, "reviews")),
    ("tags", Task.SEQUENCE, "tag", partial(_stored, "tags", sequence="str")),
    ("molecules", Task.STRUCTURE, "structure", partial(_stored, "molecules")),
    ("texts", Task.TOPICS, "", partial(_stored, "texts")),
)
_WORDS = json.loads((files("resources") / "samples" / "samples.json").read_text(encoding="utf-8"))
SAMPLES = {
    row[0]: Sample(*row, _WORDS[row[0]]["title"], _WORDS[row[0]]["sentence"]) for row in _ROWS
}
