"""New rows in other spellings, types and formats are the same rows to a model."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.datasets.files.table_file import open_table
from core.datasets.sampling.file_parts import FilePart
from core.export.exporters import export_from_folder
from core.export.prediction import load_model, predict_file
from core.export.raw_rows import ReadNotes, rows_of
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import read_data
from core.tuning.runs.run_folder import RunFolder
from core.tuning.tune import tune

ROWS = 200


def made_table() -> pd.DataFrame:
    """Categories, a code, truth values, an amount and a date; y is a sum of them."""
    rng = np.random.default_rng(5)
    table = pd.DataFrame(
        {
            "level": rng.integers(1, 6, ROWS),
            "town": rng.choice(["Zürich", "Bern", "Genf"], ROWS),
            "branch": rng.choice(["00421", "57310", "11200"], ROWS),
            "member": rng.random(ROWS) < 0.5,
            "gift": rng.choice(["ja", "nein"], ROWS),
            "price": rng.uniform(1, 3000, ROWS).round(2),
            "size": rng.normal(size=ROWS).round(3),
        }
    )
    days = rng.integers(0, 700, ROWS)
    table["day"] = pd.Timestamp("2022-01-01") + pd.to_timedelta(days, "D")
    worth = 3.0 * (table["town"] == "Zürich") + 4 * (table["branch"] == "00421") + table["level"]
    worth += 5 * table["member"] + 2 * (table["gift"] == "ja") + table["price"] / 500 + days / 100
    return table.assign(y=(worth + table["size"]).round(3))


def as_trained(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(
        price=[f"${amount:,.2f}" for amount in table["price"]],
        day=table["day"].dt.strftime("%d.%m.%Y"),
    )


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    as_trained(made_table()).to_csv(folder / "train.csv", index=False)
    data = DataPlan(str(folder / "train.csv"), kinds={"level": "category"})
    plan = Plan(data, "linear", "random", trials=1)
    run = RunFolder.create(plan, path=folder / "run")
    for _ in tune(plan, read_data(data), folder=run):
        pass
    return export_from_folder(run, folder / "model.skops")


def decomposed(text: str) -> str:
    return unicodedata.normalize("NFD", text)


NEW: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "as trained": lambda t: t,
    "floats": lambda t: t.assign(level=t["level"].astype(float)),
    "blanks": lambda t: t.assign(town=t["town"] + " ", branch="\u00a0" + t["branch"]),
    "letters apart": lambda t: t.assign(
        town=t["town"].map(lambda s: unicodedata.normalize("NFD", s))
    ),
    "TRUE": lambda t: t.assign(member=t["member"].map({True: "TRUE", False: "FALSE"})),
    "1 and 0": lambda t: t.assign(member=t["member"].astype(int)),
    "yes and no": lambda t: t.assign(member=t["member"].map({True: "Yes", False: "no"})),
    "capitals": lambda t: t.assign(gift=t["gift"].str.upper()),
    "no dollar": lambda t: t.assign(price=t["price"].str.replace("[$,]", "", regex=True)),
    "names": lambda t: t.rename(columns=lambda name: f" {name} "),
    "ISO dates": lambda t: t.assign(day=pd.to_datetime(t["day"], format="%d.%m.%Y")),
    "American dates": lambda t: t.assign(
        day=pd.to_datetime(t["day"], format="%d.%m.%Y").dt.strftime("%m/%d/%Y")
    ),
    "dates with words": lambda t: t.assign(
        day=pd.to_datetime(t["day"], format="%d.%m.%Y").dt.strftime("%d %b %Y")
    ),
    "dates with hours": lambda t: t.assign(
        day=pd.to_datetime(t["day"], format="%d.%m.%Y").dt.strftime("%Y-%m-%dT%H:%M:%S")
    ),
    "one row": lambda t: t.head(1),
}


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
@pytest.mark.parametrize("spelling", NEW)
def test_every_spelling_of_the_same_rows(
    model: Path, tmp_path: Path, spelling: str, ending: str
) -> None:
    rows = as_trained(made_table()).drop(columns="y").head(40)
    rows.to_csv(tmp_path / "same.csv", index=False)
    expected = predict_file(model, tmp_path / "same.csv")["prediction"].to_numpy(float)
    new, file = NEW[spelling](rows), tmp_path / f"new.{ending}"
    if ending == "csv":
        new.to_csv(file, index=False)
    elif ending == "xlsx":
        new.to_excel(file, index=False)
    else:
        pytest.importorskip("pyarrow")
        new.to_parquet(file)
    predicted = predict_file(model, file)["prediction"].to_numpy(float)
    np.testing.assert_allclose(predicted, expected[: len(new)])


def test_a_cell_that_cannot_be_read_is_marked_in_its_row(model: Path, tmp_path: Path) -> None:
    rows = as_trained(made_table()).drop(columns="y").head(6)
    rows.loc[2, "price"] = "a lot"
    rows.loc[4, "day"] = "last week"
    rows.to_csv(tmp_path / "new.csv", index=False)
    notes, card = ReadNotes(), load_model(model)[1]
    table = rows_of(FilePart(open_table(str(tmp_path / "new.csv"))), card, notes)
    assert notes.unreadable == {"price": {2: "a lot"}, "day": {4: "last week"}}
    assert np.isnan(table["price"][2])
    assert len(predict_file(model, tmp_path / "new.csv")) == 6
