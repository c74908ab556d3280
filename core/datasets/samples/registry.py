"""The sample datasets: scikit-learn's, and generated ones with a known truth."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import pandas as pd

from core.datasets.dataset import Dataset, DataSource
from core.datasets.files.delimiters import SAMPLE_ROWS
from core.datasets.raw_table import NO_CHOICES, DataOptions, RawTable
from core.datasets.samples.generated_molecules import molecules_table
from core.datasets.samples.generated_tables import clinic_table, groups_table, prices_table
from core.datasets.samples.generated_tags import tags_table
from core.datasets.samples.reviews import reviews_table
from core.datasets.samples.texts import texts_table
from core.datasets.task import Task
from core.datasets.understanding.dataset_from_table import assemble, roles_of_rows
from core.datasets.understanding.recognition import detect_layout, matches_layout


@dataclass(frozen=True)
class Sample:
    """A sample dataset."""

    name: str  # behind "sample:"
    title: str
    sentence: str  # what it is and what to try
    task: Task
    target: str  # "" for topics
    table: Callable[[], pd.DataFrame]  # makes the raw table, always the same

    def read(self, choices: DataOptions = NO_CHOICES) -> Dataset:
        """The sample as a dataset."""
        table = self.table()
        lines = table.to_csv(index=False).encode()
        source = DataSource("", "sample", fingerprint=hashlib.sha256(lines).hexdigest())
        target = choices.target or self.target
        task = choices.task or (self.task if target == self.target else "")
        choices = replace(choices, target=target, task=task)
        head = table.head(SAMPLE_ROWS)
        cells = {str(c): head[c].dropna().astype(str).tolist() for c in table.columns}
        shape = detect_layout(cells, target, task, choices.roles)
        if shape is not None and not matches_layout(shape, table):
            shape = None
        raw_table = RawTable(self.name, table, source, line_of=lambda row: row + 2)
        return assemble(raw_table, shape, choices if shape else roles_of_rows(cells, choices))


def _bundled(name: str) -> Callable[[], pd.DataFrame]:
    """A maker of scikit-learn's table, with class names."""

    def make_table() -> pd.DataFrame:
        from sklearn import datasets

        bunch = getattr(datasets, f"load_{name}")(as_frame=True)
        table = bunch.frame.copy()
        if name == "breast_cancer":  # like "mean radius", so that the prefix is a group
            table.columns = [re.sub(r"^(.*) error$", r"error \1", str(c)) for c in table.columns]
        if name in ("iris", "wine", "breast_cancer"):
            words = [str(word) for word in bunch.target_names]
            table["target"] = pd.Series([words[code] for code in table["target"]], dtype="str")
        return table

    return make_table


SAMPLES: dict[str, Sample] = {
    sample.name: sample
    for sample in (
        Sample(
            "groups",
            "Useful and useless groups",
            "400 made-up people in two classes. Blood and lifestyle values matter, four groups of"
            " noise do not: watch the penalties find out.",
            Task.BINARY,
            "ill",
            groups_table,
        ),
        Sample(
            "breast-cancer",
            "Breast cancer",
            "569 tumours, benign or malignant, by 30 measurements of cell nuclei in three groups:"
            " mean, error and worst.",
            Task.BINARY,
            "target",
            _bundled("breast_cancer"),
        ),
        Sample(
            "iris",
            "Iris flowers",
            "150 flowers of three species by four lengths. Small and quick.",
            Task.MULTICLASS,
            "target",
            _bundled("iris"),
        ),
        Sample(
            "wine",
            "Wines",
            "178 wines from three growers by 13 chemical values.",
            Task.MULTICLASS,
            "target",
            _bundled("wine"),
        ),
        Sample(
            "digits",
            "Handwritten digits",
            "1,797 pictures of 8 by 8 pixels, ten classes. A deep latent Gaussian model draws more"
            " of them.",
            Task.MULTICLASS,
            "target",
            _bundled("digits"),
        ),
        Sample(
            "diabetes",
            "Diabetes",
            "442 patients; how far the disease went in a year, by ten values.",
            Task.REGRESSION,
            "target",
            _bundled("diabetes"),
        ),
        Sample(
            "clinic",
            "A clinic's raw table",
            "600 made-up visits with categories, dates, yes and no, and missing values: will the"
            " patient come back?",
            Task.BINARY,
            "came_back",
            clinic_table,
        ),
        Sample(
            "prices",
            "Flat prices",
            "500 made-up flats; the price by size, place and thirty values of no use.",
            Task.REGRESSION,
            "price",
            prices_table,
        ),
        Sample(
            "reviews",
            "Reviews",
            "500 made-up reviews with what was bought and its price: which words tell who buys"
            " again?",
            Task.BINARY,
            "buys_again",
            reviews_table,
        ),
        Sample(
            "tags",
            "Parts of speech",
            "300 made-up sentences, a tag for every word. Two columns are noise: give every column"
            " its own penalty and see.",
            Task.SEQUENCE,
            "tag",
            tags_table,
        ),
        Sample(
            "molecules",
            "Folded molecules",
            "60 made-up RNA molecules with their base pairs: learn how letters fold.",
            Task.STRUCTURE,
            "structure",
            molecules_table,
        ),
        Sample(
            "texts",
            "Short texts",
            "400 made-up texts about ten subjects, most of them about one or two: which words"
            " belong together?",
            Task.TOPICS,
            "",
            texts_table,
        ),
    )
}
