"""New rows in other spellings, types and formats are the same rows to a model."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from exported_files import script_output, tuned_run

from core.datasets.column_format import guess_format
from core.datasets.files.file_parts import FilePart
from core.datasets.files.registry import open_table
from core.export.exporters import export_from_folder
from core.export.finished_run import finished_run
from core.export.prediction import load_model, model_of_file, predict_file
from core.export.raw_rows import ReadNotes, feature_cells, rows_of
from core.export.using.file_prediction import UNLIKE, PredictionStream
from core.export.using.row_prediction import predict_row
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs.run_folder import RunFolder

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
    return export_from_folder(tuned_run(folder / "run", plan), folder / "model.skops")


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


TYPED = ("as trained", "floats", "1 and 0", "ISO dates")  # whose cells are no texts elsewhere


@pytest.mark.parametrize("spelling", NEW)
def test_every_spelling_of_the_same_rows(model: Path, tmp_path: Path, spelling: str) -> None:
    rows = as_trained(made_table()).drop(columns="y").head(40)
    rows.to_csv(tmp_path / "same.csv", index=False)
    expected = predict_file(model, tmp_path / "same.csv")["prediction"].to_numpy(float)
    new = NEW[spelling](rows)
    new.to_csv(tmp_path / "new.csv", index=False)
    if spelling in TYPED:
        new.to_excel(tmp_path / "new.xlsx", index=False)
        if find_spec("pyarrow"):
            new.to_parquet(tmp_path / "new.parquet")
    for file in tmp_path.glob("new.*"):
        predicted = predict_file(model, file)["prediction"].to_numpy(float)
        np.testing.assert_allclose(predicted, expected[: len(new)], err_msg=file.name)


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


GERMAN = ("Jan", "Feb", "März", "April", "Mai", "Juni", "Juli", "Aug", "Sept", "Okt", "Nov", "Dez")
ENGLISH = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def made_forms() -> pd.DataFrame:
    """Months, quarters, days and amounts as people write them, and a sum of what they mean."""
    rng = np.random.default_rng(8)
    day = pd.Series(pd.Timestamp("2019-01-03") + pd.to_timedelta(rng.integers(0, 900, ROWS), "D"))
    first = day.dt.to_period("M").dt.to_timestamp()
    quarter = day.dt.to_period("Q").dt.to_timestamp()
    born = pd.Timestamp("1930-02-03") + pd.to_timedelta(rng.integers(0, 30_000, ROWS), "D")
    price = rng.uniform(1, 3000, ROWS).round(2)
    weight, bound = rng.uniform(1, 90, ROWS).round(1), rng.uniform(0.05, 3, ROWS).round(2)
    bound[::9] = 0.05
    people = rng.integers(1, 40, ROWS) * np.where(np.arange(ROWS) % 2, 1_000, 1_000_000)
    town = rng.choice(["Berlin", "Ulm"], ROWS)
    table = pd.DataFrame(
        {
            "month": [f"{ENGLISH[d.month - 1]}-{d:%y}" for d in first],
            "quarter": [f"{d.year}Q{d.quarter}" for d in quarter],
            "day": [f"{d.day}. {GERMAN[d.month - 1]} {d.year}" for d in day],
            "date": [f"{d:%Y%m%d}" for d in day],
            "born": [f"{d:%d.%m.%y}" for d in born],
            "price": [f"CHF {p:,.2f}".replace(",", "'").replace(".00", ".-") for p in price],
            "weight": [f"{w} {'Kg' if i % 5 else 'kg'}" for i, w in enumerate(weight)],
            "trace": ["<0.05" if b == 0.05 else f"{b:.2f}" for b in bound],
            "people": [f"{n // 1000}k" if n < 10**6 else f"{n // 10**6}M" for n in people],
            "town": [name if i % 3 else name.lower() for i, name in enumerate(town)],
        }
    )
    days = (day - pd.Timestamp("2019-01-01")).dt.days.to_numpy() / 300
    worth = days + price / 1000 + weight / 30 + bound + people / 10**7 + 2 * (town == "Ulm")
    return table.assign(y=worth.round(3))


@pytest.fixture(scope="module")
def forms_run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    folder = tmp_path_factory.mktemp("forms")
    made_forms().to_csv(folder / "train.csv", index=False)
    data = DataPlan(str(folder / "train.csv"), readings={"town": "any case"})
    plan = Plan(data, "linear", "random", trials=1)
    return tuned_run(folder / "run", plan)


def as_iso(table: pd.DataFrame, name: str, form: str) -> pd.Series:
    return pd.to_datetime(table[name], format=form).dt.strftime("%Y-%m-%d")


OTHER_FORMS: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "months": lambda t: t.assign(month=as_iso(t, "month", "%b-%y")),
    "quarters": lambda t: t.assign(quarter=[f"Q{q[-1]} {q[:4]}" for q in t["quarter"]]),
    "first days": lambda t: t.assign(quarter=pd.PeriodIndex(t["quarter"], freq="Q").to_timestamp()),
    "compact": lambda t: t.assign(date=as_iso(t, "date", "%Y%m%d")),
    "numbers": lambda t: t.assign(date=t["date"].astype(int)),
    "no unit": lambda t: t.assign(weight=t["weight"].str[:-3]),
    "capital unit": lambda t: t.assign(weight=t["weight"].str.upper()),
    "amounts": lambda t: t.assign(price=t["price"].str.replace("CHF |'|-", "", regex=True)),
    "bounds": lambda t: t.assign(trace=t["trace"].str.replace("<", "")),
    "written out": lambda t: t.assign(
        people=[n.replace("k", "000").replace("M", "000000") for n in t["people"]]
    ),
    "capital towns": lambda t: t.assign(town=t["town"].str.upper()),
}


def test_every_form_of_the_same_rows_and_of_one(forms_run: RunFolder, tmp_path: Path) -> None:
    model = export_from_folder(forms_run, tmp_path / "model.skops")
    loaded, rows = model_of_file(str(model)), made_forms().drop(columns="y").head(40)
    assert loaded is not None
    rows.to_csv(tmp_path / "same.csv", index=False)
    expected = predict_file(model, tmp_path / "same.csv")["prediction"].to_numpy(float)
    np.testing.assert_allclose(expected, made_forms()["y"].head(40), atol=1.5)
    for name, spelling in {"same": lambda table: table, **OTHER_FORMS}.items():
        new = spelling(rows)
        new.to_csv(tmp_path / "new.csv", index=False)
        predicted = predict_file(model, tmp_path / "new.csv")["prediction"].to_numpy(float)
        np.testing.assert_allclose(predicted, expected, err_msg=name)
        values = {str(column): str(cell) for column, cell in new.iloc[0].items()}
        assert predict_row(loaded, values)["prediction"] == pytest.approx(expected[0]), name


def test_the_script_reads_the_same_forms(
    forms_run: RunFolder, run_outside: Any, tmp_path: Path
) -> None:
    script = export_from_folder(forms_run, tmp_path / "tuned.py")
    printed = script_output(run_outside, script, forms_run.path.parent)
    results = finished_run(forms_run).results
    assert f"tuned: {results.test[results.metric]:.6f}\n" in printed


@pytest.mark.parametrize(
    ("trained", "new"),
    [
        ("%d.%m.%y", ["2300-01-01", "01.01.2300", "1066-10-14"]),
        ("%d.%m.%Y", ["12345-01-01", "soon"]),
        ("%Y-%m-%d", ["12345-01-01", "2021-02-30"]),
        ("%Y%m%d", ["99999999", "20211301"]),
    ],
)
def test_a_date_that_the_form_of_training_cannot_hold_is_marked(
    trained: str, new: list[str]
) -> None:
    days = pd.Series(pd.date_range("2020-01-01", periods=90).strftime(trained), name="date")
    form = guess_format(days).form
    for text in new:
        strays = feature_cells(pd.Series([days[3], text]), form)[1]
        assert strays.tolist() == [text]


@pytest.mark.parametrize("is_range_known", [True, False])
def test_a_far_date_is_marked_in_its_row_and_in_the_form(
    model: Path, tmp_path: Path, is_range_known: bool
) -> None:
    """Beyond the range of training by more than its width; without one only centuries away."""
    loaded = model_of_file(str(model))
    assert loaded is not None
    assert loaded.training is not None
    if not is_range_known:
        columns = tuple(replace(c, low=None, high=None) for c in loaded.training.columns)
        loaded = replace(loaded, training=replace(loaded.training, columns=columns))
    table = as_trained(made_table()).drop(columns="y")
    days = pd.to_datetime(table["day"], format="%d.%m.%Y")
    width = days.max() - days.min()
    near, far = days.max() + width, days.min() - width - pd.Timedelta(days=1)
    new = ["01.03.2300", "14.10.1066", f"{far:%d.%m.%Y}", f"{near:%d.%m.%Y}", "31.12.9999", ""]
    rows = table.head(6).assign(day=new)
    rows.to_csv(tmp_path / "new.csv", index=False)
    [part] = list(PredictionStream(loaded, str(tmp_path / "new.csv")))
    pairs = zip(new, part.answers[UNLIKE], strict=True)
    marked = [f"day: “{day}” is " in words for day, words in pairs]
    assert marked == [True, True, is_range_known, False, False, False]
    known = f"far outside {days.min():%Y-%m-%d} to {days.max():%Y-%m-%d}"
    assert (known if is_range_known else "centuries") in part.answers[UNLIKE][0]
    for day, is_marked in zip(new, marked, strict=True):
        assert ("day" in predict_row(loaded, {"day": day}).outside) == is_marked
