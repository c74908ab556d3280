"""What a script gets of a file by the calls of pandas that its dataset records."""

from __future__ import annotations

import gzip
import json

import pandas as pd

from core.datasets.cell_values import read_cells
from core.datasets.dataset import Dataset, DataSource
from core.datasets.files.arff_grammar import read_arff
from core.datasets.files.filling import with_fills
from core.datasets.files.plain_columns import columns_at, plain_columns


def recorded_table(source: DataSource) -> pd.DataFrame:
    """The table by the arguments, which have been through JSON, and the formats of columns."""
    reading = json.loads(json.dumps(dict(source.reading)))
    if source.format in ("parquet", "feather"):
        read = {"parquet": pd.read_parquet, "feather": pd.read_feather}[source.format]
        is_usual = "places" not in reading
        stored = (
            read(source.path, **reading)
            if is_usual
            else columns_at(source.path, source.format, **reading)
        )
        table = plain_columns(stored, source.read_csv["dtype"])
    elif source.format == "arff":
        opened = gzip.open if source.compression == "gzip" else open
        with opened(source.path, "rb") as file:
            table = read_arff(file, **reading)
    elif source.sheets:
        table = with_fills(pd.read_excel(source.path, **reading), source.merged, source.shown)
    else:
        table = pd.read_csv(source.path, **json.loads(json.dumps(dict(source.read_csv))))
    for name, form in (source.formats or {}).items():
        if form.rewrites:
            table[name] = read_cells(table[name], form)
    return table


def agree(dataset: Dataset) -> None:
    """The dataset's table and target are those of the recorded calls, to the last bit."""
    plain = recorded_table(dataset.source)
    plain = plain[plain[dataset.target_name].notna()].reset_index(drop=True)
    features = plain[dataset.feature_names]
    pd.testing.assert_frame_equal(features, dataset.table, check_exact=True)
    amounts = dataset.target.dtype.kind == "f"
    target = plain[dataset.target_name].astype(float if amounts else object)
    assert list(map(str, target)) == list(map(str, dataset.target.tolist()))
