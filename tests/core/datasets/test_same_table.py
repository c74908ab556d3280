"""The same table in seven formats gives the same columns, kinds and values."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.datasets.dataset import Dataset
from core.datasets.reading import read_dataset

FORMATS = ("csv", "tsv", "xlsx", "ods", "parquet", "feather", "arff")


def made_table(seed: int) -> pd.DataFrame:
    """Columns of every kind, some with holes; which and in what order is drawn."""
    rng = np.random.default_rng(seed)
    rows = 60
    days = pd.Timestamp("2022-01-01") + pd.to_timedelta(rng.integers(0, 700, rows), "D")
    columns = {
        "weight": rng.normal(size=rows).round(3),
        "count": rng.integers(0, 40, rows),
        "town": rng.choice(["Zürich", "Bern", "Genf", "Sankt Gallen"], rows),
        "country": rng.choice(["NA", "ZA", "BW"], rows),
        "garage": rng.choice(["None", "Attached"], rows, p=[0.3, 0.7]),
        "member": rng.random(rows) < 0.5,
        "gift": rng.choice(["ja", "nein"], rows),
        "day": pd.Series(days),
        "branch": rng.choice(["00421", "57310", "00007", "11200"], rows),
        "price": [f"${amount:,.2f}" for amount in rng.uniform(5, 5000, rows)],
        "load": [f"{amount:.1f} kg" for amount in rng.uniform(1, 9, rows)],
        "remark": rng.choice(["a, b", 'says "yes"', "it's 5 %", "x; y"], rows),
    }
    names = list(columns)
    rng.shuffle(names)
    table = pd.DataFrame({name: columns[name] for name in names[: rng.integers(4, 12)]})
    for name in ("weight", "town"):
        if name in table:
            table[name] = table[name].mask(rng.random(rows) < 0.1)
    return table.assign(outcome=rng.choice(["won", "lost"], rows))


def write(table: pd.DataFrame, path: Path) -> Path:
    dates = [n for n in table if pd.api.types.is_datetime64_any_dtype(table[n])]
    plain = table.assign(**{name: table[name].dt.strftime("%Y-%m-%d") for name in dates})
    match path.suffix:
        case ".csv":
            plain.to_csv(path, index=False)
        case ".tsv":
            plain.to_csv(path, index=False, sep="\t")
        case ".parquet":
            table.to_parquet(path)
        case ".feather":
            table.to_feather(path)
        case ".arff":
            path.write_text(arff_text(plain), encoding="utf-8")
        case _:
            table.to_excel(path, index=False)
    return path


def arff_text(table: pd.DataFrame) -> str:
    lines = ["@relation table"]
    for name in table:
        values = table[name]
        is_number = pd.api.types.is_numeric_dtype(values) and values.dtype.kind != "b"
        lines.append(f"@attribute {name} {'numeric' if is_number else 'string'}")
    lines.append("@data")
    for row in table.itertuples(index=False):
        cells = []
        for value in row:
            text = str(value).replace("\\", "\\\\").replace("'", "\\'")
            quoted = f"'{text}'" if isinstance(value, str) else text
            cells.append("?" if pd.isna(value) else quoted)
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n"


def facts(dataset: Dataset) -> list[tuple[str, str, str, str, int]]:
    return [(c.name, c.role, c.kind, c.unit, c.missing) for c in dataset.columns]


@pytest.mark.parametrize("seed", range(20))
def test_the_same_table_in_every_format(seed: int, tmp_path: Path) -> None:
    table = made_table(seed)
    reference = read_dataset(str(write(table, tmp_path / "table.csv")))
    assert reference.table is not None
    for ending in FORMATS[1:]:
        if ending in ("parquet", "feather") and find_spec("pyarrow") is None:
            continue
        dataset = read_dataset(str(write(table, tmp_path / f"table.{ending}")))
        assert facts(dataset) == facts(reference), ending
        assert dataset.target.tolist() == reference.target.tolist()
        assert dataset.table is not None
        for name in reference.table:
            left, right = reference.table[name], dataset.table[name]
            assert left.isna().tolist() == right.isna().tolist(), (ending, name)
            assert left.dropna().tolist() == right.dropna().tolist(), (ending, name)
