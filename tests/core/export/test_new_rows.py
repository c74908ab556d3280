"""New rows in other spellings, types, formats and files are the same rows to a model."""

import gzip
import pickle
import unicodedata
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
from exported_files import exported, script_output, tuned_run
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from core.datasets.column_format import guess_format
from core.datasets.files.file_parts import FilePart
from core.datasets.files.registry import open_table
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.errors import UnusableError
from core.export.files import model_file
from core.export.finished_run import finished_run
from core.export.prediction import load_model, model_of_file, predict_file
from core.export.raw_rows import ReadNotes, card_of, feature_cells, rows_of
from core.export.table_model import outputs_table
from core.export.using.file_prediction import UNLIKE, PredictionStream
from core.export.using.row_prediction import predict_row
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs.best import best_of

ROWS = 200


def answers(model, file):
    return predict_file(model, file)["prediction"].tolist()


@pytest.fixture
def plain(make_run, tmp_path):
    # An exported model, the table of its run, and what the model says of every row.
    made = make_run("binary", "logistic")
    path = exported(made.folder, tmp_path / "model.skops")
    table = pd.read_csv(tmp_path / "data.csv", sep=";")
    return path, table, best_of(made.folder).predict(table[made.dataset.feature_names]).tolist()


OTHER_FILES = {
    "as it was": lambda t, file: t.to_csv(file, index=False, sep=";"),
    "decimal commas": lambda t, file: t.to_csv(file, index=False, sep=";", decimal=","),
    "tabs, gzip": lambda t, file: file.write_bytes(
        gzip.compress(t.to_csv(index=False, sep="\t").encode())
    ),
    "another order, more": lambda t, file: (
        t[[*t.columns[6::-1]]].assign(note="x, y; z").to_csv(file, index=False)
    ),
}


@pytest.mark.parametrize("how", OTHER_FILES)
def test_another_way_of_writing(plain, tmp_path, how):
    path, table, said = plain
    OTHER_FILES[how](table, tmp_path / "new.csv")
    assert answers(path, tmp_path / "new.csv") == said


@pytest.mark.parametrize("trained", ["with blanks", "without", "by an earlier version"])
def test_blanks_around_the_names_of_columns(finish_run, tmp_path, trained):
    # Whichever file has them; text that looks like numbers stays text.
    random = np.random.default_rng(0)
    rows = [f"{age:.3f};0{int(age > 0) + i % 2};" for i, age in enumerate(random.normal(size=80))]
    lines = [f"{row}{'no' if '-' in row else 'yes'}" for row in rows]
    header = "age;colour;y" if trained == "without" else "age ;colour ;y"
    train, new = tmp_path / "train.csv", tmp_path / "new.csv"
    train.write_text("\n".join([header, *lines]))
    data = DataPlan(str(train), kinds={"colour": "category"}, target="y")
    dataset = read_dataset(str(train), DataOptions("y", kinds={"colour": "category"}))
    if trained == "by an earlier version":
        dataset = with_blanks(dataset)
    made = finish_run(Plan(data, "logistic", "random"), dataset)
    path = exported(made.folder, tmp_path / "model.skops")
    ours = best_of(made.folder).predict(dataset.features).tolist()
    for header in ("age ; colour ", "age;colour", "age , colour"):
        text = "\n".join([header, *(row.rstrip(";") for row in rows)])
        new.write_text(text.replace(";", ",") if "," in header else text)
        assert answers(path, new) == ours, header


def with_blanks(dataset):
    """The data with a blank behind every feature's name, read as earlier versions did."""
    how = {"sep": ";", "index_col": False, "dtype": {"colour ": "str", "y": "str"}}
    return replace(
        dataset,
        source=replace(dataset.source, read_csv=how),
        columns=tuple(
            replace(column, name=column.name + " " * (column.role == "feature"))
            for column in dataset.columns
        ),
        table=dataset.table.add_suffix(" "),
    )


def test_a_table_without_header(finish_run, tmp_path):
    # The target stands first; in the new file it is absent, so that all columns move up.
    random = np.random.default_rng(1)
    X = random.normal(size=(90, 3)).round(3)
    y = np.where(X[:, 0] > 0, 1, 2)
    train = tmp_path / "train.csv"
    pd.DataFrame(np.column_stack([y, X])).astype({0: int}).to_csv(train, header=False, index=False)
    dataset = read_dataset(str(train), DataOptions(target="column 1"))
    made = finish_run(Plan(DataPlan(str(train), target="column 1"), "logistic", "random"), dataset)
    path = exported(made.folder, tmp_path / "model.skops")
    pd.DataFrame(X).to_csv(tmp_path / "new.csv", header=False, index=False)
    ours = best_of(made.folder).predict(dataset.features)
    for file in ("train.csv", "new.csv"):
        assert answers(path, tmp_path / file) == ours.tolist()


@pytest.mark.parametrize("how", ["as it was", "without labels", "one feature more", "fewer"])
def test_libsvm_rows(make_run, tmp_path, how):
    made = make_run("binary", "logistic", libsvm=True)
    path = exported(made.folder, tmp_path / "model.skops")
    ours = best_of(made.folder).predict(made.dataset.features)
    lines = (tmp_path / "data.libsvm").read_text().splitlines()
    lines = [line for line in lines if not line.startswith("#")]
    if how == "without labels":
        rows = [i for i, line in enumerate(lines) if " " in line.strip()]
        lines, ours = [lines[i].partition(" ")[2] for i in rows], ours[rows]
    elif how == "one feature more":
        lines[0] += " 13:5"
    elif how == "fewer":
        rows = [i for i, line in enumerate(lines) if "12:" not in line and "11:" not in line]
        lines, ours = [lines[i] for i in rows], ours[rows]
    (tmp_path / "new.libsvm").write_text("\n".join(lines) + "\n")
    assert answers(path, tmp_path / "new.libsvm") == ours.tolist()
    if how == "as it was":
        table = tmp_path / "table.csv"
        table.write_text("a,b\n1,2\n3,4\n")
        with pytest.raises(UnusableError, match="trained on LIBSVM lines"):
            predict_file(path, table)


def test_no_model(plain, tmp_path):
    joblib.dump({"a": 1}, tmp_path / "thing.joblib")
    (tmp_path / "torn.joblib").write_bytes(b"\x80\x05 torn")
    (tmp_path / "model.txt").write_text("1 1:2 3:4\n0 2:1\n")
    for name, sentence in (
        ("thing.joblib", "does not say which columns"),
        ("torn.joblib", "damaged"),
        ("model.txt", "no exported model"),
        ("absent.skops", "no such file"),
        ("model.skops", "trained on a table"),
    ):
        with pytest.raises(UnusableError, match=sentence):
            predict_file(tmp_path / name, tmp_path / "model.txt", trust=True)


def test_a_file_that_can_run_code_is_opened_on_trust_alone(tmp_path):
    class Executes:
        def __reduce__(self):
            return Path.mkdir, (tmp_path / "executed",)

    joblib.dump(Executes(), tmp_path / "model.joblib")
    with pytest.raises(UnusableError, match=r"can run any code.* give --trust"):
        predict_file(tmp_path / "model.joblib", tmp_path / "data.csv")
    assert not (tmp_path / "executed").exists()
    with pytest.raises(UnusableError):
        predict_file(tmp_path / "model.joblib", tmp_path / "data.csv", trust=True)
    assert (tmp_path / "executed").exists()


@pytest.mark.parametrize(
    "change",
    [
        {"read_csv": {"filepath_or_buffer": "/etc/passwd", "sep": ";"}},
        {"read_csv": {"sep": "(a+)+$", "engine": "python"}},
        {"read_csv": {"memory_map": True, "storage_options": {"a": "b"}, "dtype": 7}},
        {"read_csv": {"converters": {"age": "eval"}, "skiprows": "x"}},
    ],
)
def test_a_card_says_how_cells_are_written_and_nothing_else(plain, tmp_path, change):
    path, _, said = plain
    pipeline = model_file.load_skops(path)
    pipeline.tunescope_ |= change
    skops.io.dump(pipeline, path)
    assert answers(path, tmp_path / "data.csv") == said


@pytest.mark.parametrize(
    "change",
    [
        {"features": 7},
        {"features": [7]},
        {"read_csv": []},
        {"text": None},
        {"columns": {"a": 1}},
        {},
    ],
)
def test_a_card_that_says_nothing_or_a_part_that_lacks_is_one_sentence(plain, tmp_path, change):
    path = plain[0]
    pipeline = model_file.load_skops(path)
    pipeline.tunescope_ |= change
    if not change:
        del pipeline[-1].coef_
    skops.io.dump(pipeline, path)
    sentence = "does not say which columns" if change else "damaged"
    with pytest.raises(UnusableError, match=sentence):
        predict_file(path, tmp_path / "data.csv")


@pytest.mark.parametrize("classes", [["no", "maybe", "yes"], ["yes"]])
def test_a_model_of_other_classes_than_probabilities_is_refused(plain, tmp_path, classes):
    path = plain[0]
    pipeline = model_file.load_skops(path)
    pipeline[-1].classes_ = np.array(classes)
    skops.io.dump(pipeline, path)
    with pytest.raises(UnusableError, match="the model cannot predict these rows"):
        predict_file(path, tmp_path / "data.csv")
    with pytest.raises(ValueError, match=rf"{len(classes)} classes and probabilities of 2"):
        outputs_table(np.array(["yes"]), np.array([[0.5, 0.5]]), classes)


def test_the_card_says_what_the_model_takes(make_run, tmp_path):
    made = make_run()
    card = card_of(model_file.load_skops(exported(made.folder, tmp_path / "model.skops")))
    assert card["features"] == made.dataset.feature_names
    assert (card["text"], card["target"]) == (["colour", "shop"], "y")
    assert card["read_csv"]["sep"] == ";"
    # The run's own pipeline carries no card: it was copied before.
    assert not hasattr(best_of(made.folder), "tunescope_")


def test_a_file_with_strange_functions_is_not_opened(tmp_path):
    path = tmp_path / "evil.skops"
    skops.io.dump(Pipeline([("run", FunctionTransformer(pickle.loads))]), path)
    with pytest.raises(UnusableError, match=r"pickle\.loads"):
        model_file.load_skops(path)


def made_table():
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


def as_trained(table):
    return table.assign(
        price=[f"${amount:,.2f}" for amount in table["price"]],
        day=table["day"].dt.strftime("%d.%m.%Y"),
    )


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    as_trained(made_table()).to_csv(folder / "train.csv", index=False)
    data = DataPlan(str(folder / "train.csv"), kinds={"level": "category"})
    plan = Plan(data, "linear", "random", trials=1)
    return exported(tuned_run(folder / "run", plan), folder / "model.skops")


def as_iso(table, name, form="%d.%m.%Y", new="%Y-%m-%d"):
    return pd.to_datetime(table[name], format=form).dt.strftime(new)


NEW = {
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
    "American dates": lambda t: t.assign(day=as_iso(t, "day", new="%m/%d/%Y")),
    "dates with words": lambda t: t.assign(day=as_iso(t, "day", new="%d %b %Y")),
    "dates with hours": lambda t: t.assign(day=as_iso(t, "day", new="%Y-%m-%dT%H:%M:%S")),
    "one row": lambda t: t.head(1),
}


TYPED = ("as trained", "floats", "1 and 0", "ISO dates")  # whose cells are no texts elsewhere


@pytest.mark.parametrize("spelling", NEW)
def test_every_spelling_of_the_same_rows(model, tmp_path, spelling):
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


def test_a_cell_that_cannot_be_read_is_marked_in_its_row(model, tmp_path):
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


def made_forms():
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
def forms_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forms")
    made_forms().to_csv(folder / "train.csv", index=False)
    data = DataPlan(str(folder / "train.csv"), readings={"town": "any case"})
    return tuned_run(folder / "run", Plan(data, "linear", "random", trials=1))


OTHER_FORMS = {
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


def test_every_form_of_the_same_rows_and_of_one(forms_run, tmp_path):
    model = exported(forms_run, tmp_path / "model.skops")
    loaded, rows = model_of_file(str(model)), made_forms().drop(columns="y").head(40)
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


def test_the_script_reads_the_same_forms(forms_run, run_outside, tmp_path):
    script = exported(forms_run, tmp_path / "tuned.py")
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
def test_a_date_that_the_form_of_training_cannot_hold_is_marked(trained, new):
    days = pd.Series(pd.date_range("2020-01-01", periods=90).strftime(trained), name="date")
    form = guess_format(days).form
    for text in new:
        strays = feature_cells(pd.Series([days[3], text]), form)[1]
        assert strays.tolist() == [text]


@pytest.mark.parametrize("is_range_known", [True, False])
def test_a_far_date_is_marked_in_its_row_and_in_the_form(model, tmp_path, is_range_known):
    # Beyond the range of training by more than its width; without one only centuries away.
    loaded = model_of_file(str(model))
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
    pairs = zip(new, part[UNLIKE], strict=True)
    marked = [f"day: “{day}” is " in words for day, words in pairs]
    assert marked == [True, True, is_range_known, False, False, False]
    known = f"far outside {days.min():%Y-%m-%d} to {days.max():%Y-%m-%d}"
    assert (known if is_range_known else "centuries") in part[UNLIKE][0]
    for day, is_marked in zip(new, marked, strict=True):
        assert ("day" in predict_row(loaded, {"day": day}).outside) == is_marked
