"""A model on new rows: a run and its file say the same, mark what is unlike, tell what is odd."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from exported_files import tuned_run

from core.datasets.cell_values import ColumnFormat
from core.errors import UnusableError
from core.export.exporters import export_run
from core.export.finished_run import finished_run
from core.export.prediction import NOT_KNOWN, _interval, model_of_file, model_of_run, predict_file
from core.export.raw_rows import feature_cells
from core.export.using import file_prediction
from core.export.using.file_prediction import UNLIKE, PredictionStream
from core.export.using.input_checks import unlike_reasons
from core.export.using.row_prediction import form_of_model, predict_row, test_rows_of
from core.records import to_plain
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import read_data
from core.tuning.results.training_rows import training_rows_of
from core.tuning.runs.run_folder import RunFolder

AGES = pd.DataFrame({"age": [(7 * at) % 43 for at in range(90)]})
SICK = AGES["age"].gt(20).map({True: "yes", False: "no"})


def made_run(place, data, model="logistic", name="data.csv"):
    text = data if isinstance(data, str) else data.to_csv(index=False)
    (place / name).write_text(text)
    plan = Plan(DataPlan(str(place / name)), model, "random", trials=2, folds=3)
    dataset = read_data(plan.data)
    return finished_run(tuned_run(place / "run", plan, dataset)), dataset, place


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    height = [1.5 + (at % 50) / 100 for at in range(90)]
    data = AGES.assign(town=["a", "b", "c"] * 30, height=height, sick=SICK)
    return made_run(tmp_path_factory.mktemp("use"), data)


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    random = np.random.default_rng(0)
    data = pd.DataFrame(random.normal(size=(400, 3)).round(4), columns=["a", "b", "c"])
    data["y"] = (2 * data["a"] - data["b"] + random.normal(size=400)).round(4)
    return made_run(tmp_path_factory.mktemp("numbers"), data, "linear")


@pytest.fixture(scope="module")
def by_file(ended):
    run, _, place = ended
    return model_of_file(str(export_run(run, place / "m.skops")))


@pytest.fixture
def rows(tmp_path):
    table = pd.DataFrame(
        {"age": [5, 30, 500], "town": ["a", "new", "b"], "height": [1.6, 1.7, 1.8]}
    )

    def written(**columns):
        file = tmp_path / "rows.csv"
        table.assign(**columns).to_csv(file, index=False)
        return str(file)

    return written


def used(model, file):
    told = PredictionStream(model, file)
    tables = list(told)
    return pd.concat(tables), told


def test_a_run_and_its_file_predict_the_same_and_mark_what_is_unlike(ended, by_file, rows):
    run, dataset, place = ended
    plain = predict_file(place / "m.skops", rows())
    for model in (model_of_run(run, dataset), model_of_run(run, None), by_file):
        table, told = used(model, rows())
        pd.testing.assert_frame_equal(table[list(plain.columns)], plain)
        first, second, third = table[UNLIKE]
        assert first == ""
        assert second.startswith("town was never “new”")
        assert third.startswith("age is outside 0 to 42")
        assert (told.marked_count, told.done) == (2, 3)
        assert told.sentences() == ["“town” has a value never seen in training: “new”."]


@pytest.mark.parametrize("ending", [".skops", ".joblib", ".onnx"])
def test_every_model_file_tells_its_ranges(ended, tmp_path, ending):
    if ending == ".onnx":
        pytest.importorskip("onnxruntime")
    run, _, _ = ended
    model = model_of_file(str(export_run(run, tmp_path / f"m{ending}")), trust=True)
    fields = {field["name"]: field for field in form_of_model(model)["fields"]}
    assert (fields["age"]["low"], fields["age"]["high"]) == (0.0, 42.0)
    assert fields["town"]["choices"] == ("a", "b", "c")
    said = predict_row(model, {"age": 40.0})
    assert said["prediction"] == "yes"
    assert said["shares"][0][0] == "yes"


def test_a_model_made_before_opens_and_says_what_is_not_known(ended, tmp_path, rows):
    run, _, _ = ended
    old = replace(run, takeaway=replace(run.takeaway, training={}))
    model = model_of_file(str(export_run(old, tmp_path / "old.skops")))
    table, told = used(model, rows())
    assert UNLIKE not in table
    assert NOT_KNOWN in told.sentences()
    form = form_of_model(model)
    assert not form["known"]
    assert [field["name"] for field in form["fields"]] == ["age", "town", "height"]
    assert predict_row(model, {"age": 40.0, "town": "a"})["prediction"] == "yes"


def test_a_run_folder_made_before_is_read(ended):
    run, dataset, place = ended
    path = place / "run" / "best.json"
    text = path.read_text()
    plain = json.loads(text)
    del plain["training"]
    path.write_text(json.dumps(plain))
    try:
        old = finished_run(RunFolder.open(place / "run"))
        assert model_of_run(old, None).training is None
        found = model_of_run(old, dataset).training
        assert found == model_of_run(run, None).training
    finally:
        path.write_text(text)


# One row --------------------------------------------------------------------------------------


def test_one_row_is_what_a_file_of_it_says(ended, rows):
    run, dataset, _ = ended
    model = model_of_run(run, dataset)
    table, _ = used(model, rows())
    given = pd.read_csv(rows())
    for at in range(3):
        values = {name: given[name].iloc[at] for name in ("age", "town", "height")}
        said = predict_row(model, {k: v if k == "town" else float(v) for k, v in values.items()})
        assert said["prediction"] == table["prediction"].iloc[at]
        for label, share in said["shares"]:
            assert share == pytest.approx(table[f"probability of {label}"].iloc[at])
        assert said["unlike"] == table[UNLIKE].iloc[at]
    assert said["outside"] == ["age"]


def test_what_is_not_given_is_typical_and_nothing_is_missing(ended, by_file):
    typical = predict_row(by_file, {})
    fields = {field["name"]: field["typical"] for field in form_of_model(by_file)["fields"]}
    assert predict_row(by_file, fields) == typical
    assert predict_row(by_file, {"town": None, "age": None})["unlike"] == ""
    with pytest.raises(UnusableError, match="column age: “old” is no number"):
        predict_row(by_file, {"age": "old"})
    with pytest.raises(UnusableError, match="no column “agee”"):
        predict_row(by_file, {"agee": 3})


def test_rows_of_the_test_set_have_their_line_values_and_truth(ended):
    run, dataset, place = ended
    found = test_rows_of(run, dataset)
    lines = (place / "data.csv").read_text().splitlines()
    for number in (1, len(found.row_indices)):
        row = found.row_by_number(number)
        cells = lines[row["line"] - 1].split(",")
        assert [float(cells[0]), cells[1], float(cells[2])] == list(row["values"].values())
        assert row["truth"] == cells[3]
        assert found.row_at_line(row["line"]) == row
    assert found.row_at_line(1)["number"] == 1
    with pytest.raises(UnusableError, match="no row 0 in the test set"):
        found.row_by_number(0)
    with pytest.raises(UnusableError, match="no test row is in line 9,999"):
        found.row_at_line(9999)
    assert test_rows_of(run, None) is None


def test_classes_that_are_numbers_keep_their_names(tmp_path):
    grade = [8 if age > 30 else 5 if age > 15 else 1 for age in AGES["age"]]
    run, dataset, _ = made_run(tmp_path, AGES.assign(grade=grade))
    said = predict_row(model_of_run(run, dataset), {"age": 40.0})
    assert said["prediction"] == "8"
    assert said["shares"][0][0] == "8"


# Numbers --------------------------------------------------------------------------------------


def test_numbers_come_with_an_interval_that_holds_nine_of_ten(numbers, tmp_path):
    run, dataset, _ = numbers
    random = np.random.default_rng(9)
    new = pd.DataFrame(random.normal(size=(4000, 3)), columns=["a", "b", "c"])
    truth = 2 * new["a"] - new["b"] + random.normal(size=4000)
    new.to_csv(tmp_path / "new.csv", index=False)
    run_said, _ = used(model_of_run(run, dataset), str(tmp_path / "new.csv"))
    file = model_of_file(str(export_run(run, tmp_path / "m.skops")))
    table, _ = used(file, str(tmp_path / "new.csv"))
    assert table["low (90 %)"].tolist() == run_said["low (90 %)"].tolist()
    held = (truth >= table["low (90 %)"]) & (truth <= table["high (90 %)"])
    # Of 120 test errors: the share held is Beta distributed about 0.9 with deviation 0.027.
    assert 0.82 < held.mean() < 0.97
    said = predict_row(file, {"a": 1.0})
    assert said["high"] - said["low"] == pytest.approx(2 * file.interval.half)


def test_a_stranger_s_interval_is_not_believed(numbers, tmp_path):
    run, _, _ = numbers
    model = model_of_run(run, None)
    assert _interval(model.card) == model.interval
    for wrong in ({"half": -1.0}, {"half": "x"}, {"coverage": 2.0}, {"rows": 0}):
        interval = to_plain(model.card.interval) | wrong
        assert _interval(replace(model.card, interval=interval)) is None


# Bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("town,height\na,1.6\n", "the column “age” is missing; add"),
        *(
            (f"{name},town,height\n3,a,1.6\n", f"rename “{name}” to “age”")
            for name in ("Age", "age (years)", "AGE_", "ages")
        ),
        *((text, "") for text in ("", "\n\n", "age,town,height\n")),
    ],
)
def test_what_cannot_be_predicted_is_one_sentence(by_file, tmp_path, text, sentence):
    (tmp_path / "rows.csv").write_text(text)
    with pytest.raises(UnusableError) as error:
        used(by_file, str(tmp_path / "rows.csv"))
    said = error.value.sentence
    assert ("rows.csv" in said, sentence in said, "\n" in said) == (True, True, False)


def test_other_columns_and_another_order_are_fine(by_file, rows, tmp_path):
    plain, _ = used(by_file, rows())
    table = pd.read_csv(rows())[["height", "town", "age"]].assign(note="x", id=[1, 2, 3])
    table.to_csv(tmp_path / "more.csv", index=False)
    said, told = used(by_file, str(tmp_path / "more.csv"))
    assert said["prediction"].tolist() == plain["prediction"].tolist()
    assert "2 columns are ignored, which the model was not trained on: “note”, “id”." in (
        told.sentences()
    )


FACTORS = {1000: "some 1,000 times", 100: "some 100 times", 0.01: "1/100 of"}
HEIGHT = "Every value of “height” lies outside the range of training, 1.5 to 1.99"
REMARKS = [
    *(
        ({"height": [factor * height for height in (1.6, 1.7, 1.8)]}, [HEIGHT, words, "unit"])
        for factor, words in FACTORS.items()
    ),
    ({"age": [5 * 60, 30 * 60, 40]},
     ["2 of 3 values of “age” lie outside the range of training, 0 to 42"]),
    ({"height": ["", "", ""]}, ["Every value of “height” is missing."]),
    ({"town": ["A", "a", "new"]},
     ["“town” has 2 values never seen in training: “A”, “new”. “A” was never seen in training; "
      "“a” was."]),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "words"), REMARKS)
def test_odd_columns_are_told(by_file, rows, columns, words):
    sentences = used(by_file, rows(**columns))[1].sentences()
    (said,) = (sentence for sentence in sentences if next(iter(columns)) in sentence)
    assert [word for word in words if word not in said] == []


def test_columns_that_were_left_out_of_the_training_are_no_strangers(tmp_path):
    data = AGES.assign(note="always", sick=SICK)
    run, dataset, _ = made_run(tmp_path, data)
    data.head(3).to_csv(tmp_path / "new.csv", index=False)
    assert "note" not in run.takeaway.feature_names
    assert used(model_of_run(run, dataset), str(tmp_path / "new.csv"))[1].sentences() == []


def test_dates_written_in_another_way_are_told(tmp_path):
    random = np.random.default_rng(0)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(random.permutation(120), "D")
    data = pd.DataFrame({"day": days.strftime("%Y-%m-%d"), "age": random.integers(1, 80, 120)})
    data["sick"] = np.where(data["age"] > 40, "yes", "no")
    run, _, _ = made_run(tmp_path, data)
    model = model_of_file(str(export_run(run, tmp_path / "m.skops")))
    new = pd.DataFrame({"day": ["2024-02-01", "31.12.2024", None], "age": [3, 4, 5]})
    new.to_csv(tmp_path / "new.csv", index=False)
    table, told = used(model, str(tmp_path / "new.csv"))
    typical = form_of_model(model)["fields"][0]["typical"]
    assert told.sentences() == [
        f"“day” has a value that is no date like those of training ({typical}) and counts as"
        " missing: “31.12.2024”."
    ]
    no_date = "day: “31.12.2024” is no date like those of training, taken as missing"
    assert table[UNLIKE].tolist() == ["", no_date, ""]
    assert predict_row(model, {"day": "31.05.2024"})["outside"] == []  # alone, it is clear
    later = predict_row(model, {"day": "31.12.2024"})
    assert later["outside"] == ["day"]
    assert later["unlike"].endswith("is far outside 2024-01-01 to 2024-04-29")
    said = predict_row(model, {"day": "someday"})
    assert said["outside"] == ["day"]
    assert said["unlike"] == f"day is no date like {typical}, so it counts as missing"


def test_a_number_that_was_always_the_same_is_said_so(tmp_path):
    lines = "\n".join(f"{int(at % 7 > 3)} 1:{at % 7} 2:4" for at in range(90))
    run, dataset, _ = made_run(tmp_path, lines, name="data.svm")
    said = predict_row(model_of_run(run, dataset), {"feature 2": 5.0})
    assert said["unlike"].startswith("feature 2 was always 4")


@pytest.mark.parametrize("decimal", [".", ","])
def test_what_is_no_number_stays_known_where_others_are_written_anew(decimal):
    values = pd.Series([*(f"{i},5" for i in range(20)), "oops", None])
    cells, strays = feature_cells(values, ColumnFormat("number", decimal=decimal))
    assert cells.tolist()[:20] == [i + 0.5 for i in range(20)]
    assert strays.to_dict() == {20: "oops"}


def test_hostile_names_and_cells_are_only_text(by_file, tmp_path):
    names = ["<b>x</b>", "=cmd|' /C calc'!A0", "prediction", UNLIKE, "a\nb", "%s{0}"]
    table = pd.DataFrame({"age": [3, 4], "town": ["<img src=x>\n" * 40, "a"], "height": 1.6})
    for name in names:
        table[name] = "=1+1"
    table.to_csv(tmp_path / "odd <b>.csv", index=False)
    said, told = used(by_file, str(tmp_path / "odd <b>.csv"))
    assert said.columns.is_unique
    sentences = told.sentences()
    assert all("\n" not in one and len(one) < 400 for one in sentences)
    assert len(said[UNLIKE].iloc[0]) < 100


# Large files ----------------------------------------------------------------------------------


def test_a_large_file_is_predicted_in_parts_as_a_small_one(by_file, tmp_path, monkeypatch):
    random = np.random.default_rng(3)
    table = pd.DataFrame(
        {"age": random.integers(0, 60, 95), "town": random.choice(list("abd"), 95), "height": 1.6}
    )
    table.to_csv(tmp_path / "many.csv", index=False)
    whole, told = used(by_file, str(tmp_path / "many.csv"))
    monkeypatch.setattr(file_prediction, "LARGE_BYTES", 10)
    monkeypatch.setattr(file_prediction, "PART_ROWS", 20)
    again = PredictionStream(by_file, str(tmp_path / "many.csv"))
    steps = [(again.done, again.total) for _ in again]
    assert steps == [(20, 95), (40, 95), (60, 95), (80, 95), (95, 95)]
    said, _ = used(by_file, str(tmp_path / "many.csv"))
    pd.testing.assert_frame_equal(said.reset_index(drop=True), whole)
    assert again.marked_count == told.marked_count
    assert again.sentences() == told.sentences()


@pytest.mark.parametrize("is_large", [False, True])
def test_words_among_numbers_count_as_missing(by_file, tmp_path, monkeypatch, is_large):
    # They are told in their rows, far down a large file too.
    if is_large:
        monkeypatch.setattr(file_prediction, "LARGE_BYTES", 10)
        monkeypatch.setattr(file_prediction, "PART_ROWS", 20)
    lines = ["age,town,height", *["3,a,1.6"] * 70, "old,new,1.6", *["3,a,1.6"] * 5]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    table, told = used(by_file, str(tmp_path / "rows.csv"))
    (row,) = np.flatnonzero(table[UNLIKE])
    no_number = "age: “old” is no number, taken as missing"
    assert (row, table[UNLIKE].iloc[row]) == (70, f"town was never “new”; {no_number}")
    assert told.marked_count == 1
    assert "In column “age”, 1 value that is no number counts as missing (“old”)." in (
        told.sentences()
    )


# Unlike rows -----------------------------------------------------------------------------------


def drawn_rows(count, seed, spread=1.0):
    random = np.random.default_rng(seed)
    table = pd.DataFrame(spread * random.normal(size=(count, 6)), columns=list("abcdef"))
    table["town"] = random.choice(["x", "y", "z"], size=count)
    table.loc[random.random(count) < 0.1, "b"] = np.nan
    return table.assign(target=random.normal(size=count))


@pytest.fixture(scope="module")
def training(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "train.csv"
    drawn_rows(300, 0).to_csv(path, index=False)
    return training_rows_of(read_data(DataPlan(str(path))))


def test_one_in_a_hundred_ordinary_rows_is_unlike(training):
    said = unlike_reasons(drawn_rows(4000, 1), training)
    assert 0.002 < np.mean([words != "" for words in said]) < 0.025
    assert np.mean([words != "" for words in unlike_reasons(drawn_rows(400, 2, 4), training)]) > 0.9


def test_ranges_and_categories_are_the_reasons_the_farthest_first(training):
    row = pd.DataFrame({name: [0.0] for name in "abcdef"}).assign(town="x")
    column = {column.name: column for column in training.columns}["a"]
    range_text = f"is outside {column.low:g} to {column.high:g}"
    assert unlike_reasons(row, training) == [""]
    # A little outside of one range alone is nothing unusual among seven columns.
    assert unlike_reasons(row.assign(a=column.high + 0.01), training) == [""]
    assert unlike_reasons(row.assign(a=-50.0), training) == [f"a {range_text}"]
    (said,) = unlike_reasons(row.assign(a=-50.0, town="w"), training)
    assert said == f"a {range_text}; town was never “w”"
    assert unlike_reasons(row.assign(town="w"), training) == ["town was never “w”"]
    (said,) = unlike_reasons(row.assign(**dict.fromkeys("abcdef", 9.0)), training)
    assert said.count("is outside") == 3
    assert said.endswith("; 3 more")


def test_what_is_missing_says_nothing(training):
    row = pd.DataFrame({name: [np.nan] for name in "abcdef"}).assign(town=None)
    assert unlike_reasons(row, training) == [""]


def test_values_that_do_not_belong_together_are_unusual(tmp_path):
    random = np.random.default_rng(0)
    table = drawn_rows(300, 0).assign(b=lambda rows: rows["a"] + 0.1 * random.normal(size=300))
    table.to_csv(tmp_path / "train.csv", index=False)
    training = training_rows_of(read_data(DataPlan(str(tmp_path / "train.csv"))))
    row = table.head(1).drop(columns="target").assign(**dict.fromkeys("cdef", 0.0))
    assert unlike_reasons(row.assign(a=1.5, b=1.5), training) == [""]
    (said,) = unlike_reasons(row.assign(a=1.5, b=-1.5), training)
    assert said in ("unusual in a and b", "unusual in b and a")


def test_of_few_rows_or_in_an_earlier_model_ranges_alone_mark(training, tmp_path):
    drawn_rows(60, 0).head(19).to_csv(tmp_path / "few.csv", index=False)
    few = training_rows_of(read_data(DataPlan(str(tmp_path / "few.csv"))))
    assert few.distance is None
    row = pd.DataFrame({name: [0.0] for name in "abcdef"}).assign(town="x")
    for known in (few, replace(training, distance=None)):
        assert unlike_reasons(row, known) == [""]
        high = next(column.high for column in known.columns if column.name == "a")
        (said,) = unlike_reasons(row.assign(a=high + 0.01), known)
        assert said.startswith("a is outside")
