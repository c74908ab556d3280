"""Units: equal and related items on one side of every split, against brute force."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from sklearn.model_selection import StratifiedKFold, train_test_split

from core.datasets.dataset import Dataset, DataSource
from core.datasets.raw_table import DataOptions, RawTable
from core.datasets.reading import read_dataset
from core.datasets.split_units import LARGEST_UNIT, equal_items
from core.datasets.splitting import cross_validation_folds, hold_out
from core.datasets.understanding.dataset_from_table import assemble
from core.errors import UnusableError


def table_dataset(table: pd.DataFrame, together: bool = True, **choices: object) -> Dataset:
    read = RawTable("made", table, DataSource("", "sample"), line_of=int)
    return assemble(read, None, DataOptions(together=together, **choices))


def said(dataset: Dataset) -> str:
    return " ".join(finding.sentence for finding in dataset.findings)


def splits_of(dataset: Dataset, seed: int, count: int = 4) -> list[tuple[np.ndarray, np.ndarray]]:
    """The test set, the folds of the rest, the folds of all rows and the folds in one of these."""
    train, test = hold_out(dataset, 0.3, seed)
    outer = cross_validation_folds(dataset, np.arange(dataset.rows), count, seed)
    return [
        (train, test),
        *cross_validation_folds(dataset, train, count, seed),
        *outer,
        *cross_validation_folds(dataset, outer[0][0], count, seed),
    ]


def related(rows: list[tuple], groups: list | None) -> list[set[int]]:
    """Connected components by brute force: rows are linked by equal features or by a group."""
    left, found = set(range(len(rows))), []
    while left:
        unit, new = set(), {left.pop()}
        while new:
            unit |= new
            new = {
                j
                for j in left
                for i in new
                if rows[i] == rows[j] or (groups is not None and groups[i] == groups[j])
            }
            left -= new
        found.append(unit)
    return found


def refuse_torn(units: list[set[int]], parts: list[tuple[np.ndarray, np.ndarray]]) -> None:
    for one, other in parts:
        assert not set(one) & set(other)
        for unit in units:
            assert not (unit & set(one.tolist()) and unit & set(other.tolist()))


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.data())
def test_no_unit_is_on_both_sides(data):
    rows = data.draw(st.integers(40, 120))
    rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    table = pd.DataFrame({"a": rng.normal(size=rows).round(3), "b": rng.choice(list("uvw"), rows)})
    table.loc[rng.random(rows) < 0.1, "a"] = np.nan
    copies = rng.random(rows) < data.draw(st.sampled_from([0.0, 0.1, 0.4]))
    table.loc[copies, ["a", "b"]] = table.loc[rng.integers(0, 12, copies.sum()), ["a", "b"]].values
    roles = {}
    if data.draw(st.booleans()):
        table["patient"] = rng.integers(0, rows // 3, rows)
        roles["patient"] = "group"
    table["y"] = rng.choice(data.draw(st.sampled_from([2, 3])), rows).astype(str)
    if data.draw(st.booleans()):
        table["y"] = rng.normal(size=rows)
    dataset = table_dataset(table, roles=roles)
    if "only the groups stay" in said(dataset) or "one by one" in said(dataset):
        return
    features = [tuple(map(str, row)) for row in table[["a", "b"]].to_numpy()]
    units = related(features, table["patient"].tolist() if roles else None)
    most = Counter(features).most_common(1)[0][1]
    if most > LARGEST_UNIT * rows:  # too much for one side, and said
        assert f"but for what comes {most} times" in said(dataset)
        return
    parts = splits_of(dataset, data.draw(st.integers(0, 5)))
    refuse_torn(units, parts)
    assert sorted(np.concatenate(parts[0])) == list(range(rows))
    assert sorted(np.concatenate([scored for _, scored in parts[1:5]])) == sorted(parts[0][0])


def copied(rows: int, share: float, seed: int = 0) -> pd.DataFrame:
    """A table with three classes in which a share of the rows are copies of others."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(rows, 5)), columns=list("abcde"))
    table["y"] = rng.choice(["common", "less", "rare"], rows, p=[0.7, 0.25, 0.05])
    count = int(rows * share)
    table.iloc[:count] = table.iloc[count : 2 * count].to_numpy()
    return table.infer_objects()


@pytest.mark.parametrize("share", [0.02, 0.2, 0.4])
def test_classes_keep_their_shares(share):
    dataset = table_dataset(copied(1000, share))
    labels = np.array(dataset.classes)
    whole = np.array([np.mean(dataset.target == one) for one in labels])
    for at, (_, scored) in enumerate(splits_of(dataset, 3, 5)):
        own = np.array([np.mean(dataset.target[scored] == one) for one in labels])
        assert np.abs(own - whole).max() < 0.01
        assert abs(len(scored) - [300, *[140] * 5, *[200] * 5, *[160] * 5][at]) <= 2


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_apart_the_splits_are_those_of_scikit_learn(share):
    """Where no rows are equal, or a person has them apart, which a finding offers to mend."""
    dataset = table_dataset(copied(500, share), together=share == 0)
    assert dataset.units is None
    train, test = hold_out(dataset, 0.3, 7)
    theirs = train_test_split(
        np.arange(500), test_size=150, random_state=7, stratify=dataset.target
    )
    np.testing.assert_array_equal(train, np.sort(theirs[0]))
    np.testing.assert_array_equal(test, np.sort(theirs[1]))
    divide = StratifiedKFold(5, shuffle=True, random_state=7).split(train, dataset.target[train])
    parts = cross_validation_folds(dataset, train, 5, 7)
    for (_, ours), (_, scored) in zip(parts, divide, strict=True):
        np.testing.assert_array_equal(ours, train[scored])
    for finding in [f for f in dataset.findings if f.proposal]:
        assert finding.serious
        assert finding.proposal.fields == {"together": True}
        assert "200 of 500 rows equal another row in every feature" in finding.sentence
    assert any(f.proposal for f in dataset.findings) == (share > 0)


def test_equal_rows_are_counted_as_pandas_counts():
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.integers(0, 9, (500, 3)).astype(float), columns=list("abc"))
    table.loc[rng.random(500) < 0.1, "a"] = np.nan
    table["w"] = rng.choice(["u", "v", None], 500)
    twins = int(table.duplicated(keep=False).sum())
    assert 50 < twins < 450
    dataset = table_dataset(table.assign(y=rng.normal(size=500)))
    assert f"{twins} of 500 rows equal another row" in said(dataset)


def test_where_few_values_make_rows_equal_they_are_divided_one_by_one():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 2, (2000, 7)), columns=list("abcdefg"))
    table["y"] = np.where(rng.random(2000) < 0.3, "yes", "no")
    dataset = table_dataset(table)
    assert dataset.units is None
    assert "so few values make that likely" in said(dataset)
    _, test = hold_out(dataset, 0.3, 0)
    assert len(test) == 600
    assert abs(np.mean(dataset.target[test] == "yes") - np.mean(dataset.target == "yes")) < 0.001


def test_few_different_rows_and_a_common_one():
    few = pd.DataFrame({"x": np.arange(60) % 6 * 1.7, "y": np.arange(60) % 2})
    assert "there are only 6 different ones" in said(table_dataset(few))
    assert len(hold_out(table_dataset(few), 0.3, 0)[1]) == 18
    rng = np.random.default_rng(2)
    common = pd.DataFrame({"x": rng.normal(size=200), "z": rng.normal(size=200)})
    common.loc[:79, ["x", "z"]] = 0.0  # 40 % of the rows are one
    common.loc[80:89, ["x", "z"]] = common.loc[90:99, ["x", "z"]].to_numpy()
    dataset = table_dataset(common.assign(y=rng.normal(size=200)))
    _, test = hold_out(dataset, 0.3, 0)
    assert 10 < np.sum(test < 80) < 40
    refuse_torn([{80 + k, 90 + k} for k in range(10)], splits_of(dataset, 0))


def test_a_class_of_copies_of_one_row_is_still_learned_and_tested():
    x = np.random.default_rng(4).normal(size=100)
    x[94:] = 5.0
    dataset = table_dataset(pd.DataFrame({"x": x, "y": np.repeat(["a", "b"], [94, 6])}))
    for one, other in splits_of(dataset, 1):
        assert "b" in dataset.target[one]
        assert "b" in dataset.target[other] or len(other) < 20


@pytest.mark.slow
def test_a_sparse_file(read, tmp_path):
    matrix = sparse.random(200, 30, 0.2, random_state=1, format="lil")
    matrix[:40] = matrix[40:80]
    path = tmp_path / "some.libsvm"
    dump_svmlight_file(matrix.tocsr(), np.random.default_rng(5).integers(2, size=200), str(path))
    dataset = read_dataset(str(path))
    dense = [tuple(row) for row in dataset.matrix.toarray()]
    units = [unit for unit in related(dense, None) if any(any(dense[k]) for k in unit)]
    assert sum(len(unit) > 1 for unit in units) >= 40
    refuse_torn(units, splits_of(dataset, 0))
    assert read_dataset(str(path), DataOptions(together=False)).units is None


def test_sequences_with_a_twin_and_of_one_document_stay_together(read):
    rng = np.random.default_rng(7)
    words = [rng.choice(list("abcdefgh"), rng.integers(3, 9)).tolist() for _ in range(60)]
    words[20:30] = words[:10]
    tokens = [
        (f"s{k}", f"d{k % 20}", word, "XY"[word < "d"])
        for k, own in enumerate(words)
        for word in own
    ]
    table = pd.DataFrame(tokens, columns=["sequence", "document", "word", "tag"])
    for role, documents in (("ignore", None), ("group", [k % 20 for k in range(60)])):
        dataset = read(table, roles={"document": role})
        assert dataset.task == "sequence"
        assert "20 of 60 sequences have the same tokens as another" in said(dataset)
        units = related([tuple(own) for own in words], documents)
        owner = np.array([int(name[1:]) for name in dataset.row_groups])
        for one, other in splits_of(dataset, 0):
            refuse_torn(units, [(np.unique(owner[one]), np.unique(owner[other]))])
    assert "20 groups of 60 sequences" in said(dataset)
    assert 15 <= len(np.unique(dataset.row_groups[hold_out(dataset, 0.3, 0)[1]])) <= 21
    proposals = {f.proposal.words: f.proposal.roles for f in read(table).findings if f.proposal}
    assert proposals["Keep the sequences of one document together"] == {"document": "group"}


def hairpins(families: int, each: int) -> pd.DataFrame:
    """Molecules of families, of three lengths."""
    rng = np.random.default_rng(8)
    lengths = [k % 3 for _ in range(families) for k in range(each)]
    letters = ["GGG" + "".join(rng.choice(list("ACGU"), 4 + more)) + "CCC" for more in lengths]
    structures = [f"(((....{'.' * more})))" for more in lengths]
    return pd.DataFrame({"sequence": letters, "structure": structures})


@pytest.mark.parametrize("name", ["family", "rfam", "Rfam_acc"])
def test_families_of_molecules_stay_whole(read, name):
    table = hairpins(15, 4).assign(**{name: [f"RF{k // 4:05}" for k in range(60)]})
    dataset = read(table)
    assert f"same “{name}” stay on one side of every split: 15 groups" in said(dataset)
    families = [{4 * f + k for k in range(4)} for f in range(15)]
    refuse_torn(families, splits_of(dataset, 0))
    assert abs(len(hold_out(dataset, 0.3, 0)[1]) - 18) <= 2
    apart = read(table, together=False)  # as runs of before understood it
    assert apart.row_groups is None
    assert apart.columns[2].role == "ignore"
    assert read(table, roles={name: "ignore"}).row_groups is None


def test_few_families_are_fewer_folds(read):
    lines = [
        f"GGG{'ACGU'[k % 4] * (4 + k)}CCC,(((....{'.' * k}))),f{family}"
        for family, size in enumerate([1] * 6 + [30] * 3)
        for k in range(size)
    ]
    dataset = read("sequence,structure,family\n" + "\n".join(lines) + "\n")
    train, test = hold_out(dataset, 0.3, 0)
    few = np.flatnonzero(dataset.row_groups >= 6)  # three families
    assert "only the groups stay together" in said(dataset)  # all three have the same letters
    parts = cross_validation_folds(dataset, few, 5, 0)
    assert len(parts) == 3
    refuse_torn([set(np.flatnonzero(dataset.row_groups == f)) for f in range(9)], parts)
    assert len(train) > len(test) > 10


def test_equal_molecules_are_one_unit(read):
    table = hairpins(10, 5)
    twins = [letters.lower().replace("u", "t") for letters in table["sequence"][:10]]
    table.loc[30:39, "sequence"] = twins
    table["structure"] = [f"(((....{'.' * (len(own) - 10)})))" for own in table["sequence"]]
    dataset = read(table)
    units = related([(one.upper().replace("T", "U"),) for one in table["sequence"]], None)
    refuse_torn(units, splits_of(dataset, 0))
    twins = sum(len(unit) for unit in units if len(unit) > 1)
    assert f"{twins} of 50 molecules have the same letters as another" in said(dataset)


def test_equal_texts_are_one_unit(read):
    rng = np.random.default_rng(9)
    words = ["river", "mountain", "forest", "village", "meadow", "harbour", "island", "valley"]
    texts = [" ".join(rng.choice(words, 12)) for _ in range(45)] * 2
    texts[45:60] = [text.upper().replace(" ", "  ") for text in texts[45:60]]
    dataset = read(pd.DataFrame({"id": range(90), "text": texts}), task="topics", target="text")
    assert "90 of 90 texts say the same as another" in said(dataset)
    refuse_torn([{k, 45 + k} for k in range(45)], splits_of(dataset, 0))


def test_what_a_second_file_shares_with_the_first_is_said(read, write):
    table = copied(200, 0)
    dataset = read(table.head(150), test_file=write(table.tail(80), "b.csv"))
    assert "30 of 80 rows of the test file equal another row" in said(dataset)


def proposed(table: pd.DataFrame) -> dict[str, dict]:
    found = [f for f in table_dataset(table).findings if f.proposal]
    found = [f for f in found if "feature" not in f.proposal.roles.values()]
    return {f.column: {**f.proposal.roles, **f.proposal.fields} for f in found}


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("patient", lambda rng: rng.integers(0, 40, 200), "one patient"),
        ("PatientID", lambda rng: rng.integers(0, 40, 200), "one patient"),
        ("customer_id", lambda rng: rng.choice([f"C{k}" for k in range(99)], 200), "one customer"),
        ("store_id", lambda rng: rng.integers(0, 12, 200), "one store"),
        ("who", lambda rng: rng.choice([f"AB-{k:03}" for k in range(50)], 200), "one “who”"),
    ],
)
def test_identifiers_are_proposed(name, values, words):
    rng = np.random.default_rng(10)
    table = copied(200, 0)
    table.insert(0, name, values(rng))
    assert proposed(table) == {name: {name: "group"}}
    [finding] = [f for f in table_dataset(table).findings if f.proposal]
    assert finding.proposal.words == f"Keep the rows of {words} together"
    assert finding.proposal.option == f"--role {name}=group"
    dataset = table_dataset(table, roles=finding.proposal.roles)
    units = related(list(range(200)), table[name].tolist())
    refuse_torn(units, splits_of(dataset, 0))


def test_plausible_features_are_not_proposed():
    rng = np.random.default_rng(11)
    features = {
        "age": rng.integers(20, 70, 200),
        "patient_weight": rng.normal(size=200),
        "user_rating": rng.integers(0, 10, 200),
        "member": rng.choice(["yes", "no"], 200),
        "city": rng.choice(["Rome", "Oslo", "Bern", "Kyiv", "Lima", "Quito"], 200),
        "customer": np.arange(200),  # one row each
    }
    assert proposed(pd.concat([pd.DataFrame(features), copied(200, 0)], axis=1)) == {}


def test_a_date_is_proposed_but_no_day_of_birth():
    table = copied(200, 0)
    days = pd.date_range("2024-01-01", periods=200, freq="D").strftime("%Y-%m-%d").to_numpy()
    table.insert(0, "birth_date", days[::-1])
    assert proposed(table) == {}
    table.insert(0, "admitted", days)
    assert proposed(table) == {"admitted": {"latest": "admitted"}}


def dated(rows: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(12)
    days = pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 90, rows), unit="D")
    table = copied(rows, 0)
    table.insert(0, "day", days.strftime("%d.%m.%Y").to_numpy())
    return table


def days_of(table: pd.DataFrame) -> np.ndarray:
    return pd.to_datetime(table["day"], format="%d.%m.%Y").to_numpy()


def test_the_latest_rows_test_with_ties_whole():
    table = dated()
    dataset = table_dataset(table, latest="day")
    train, test = hold_out(dataset, 0.3, 0)
    days = days_of(table)
    assert days[train].max() < days[test].min()
    assert sorted([*train, *test]) == list(range(300))
    per_day = pd.Series(days).value_counts().max()
    assert abs(len(test) - 90) <= per_day
    np.testing.assert_array_equal(test, hold_out(dataset, 0.3, 5)[1])
    assert "The latest rows by “day” test the result" in said(dataset)


def test_a_class_of_one_row_has_no_time():
    table = dated()
    table["y"] = np.where(np.arange(300) % 2, "a", "b")
    table.loc[7, "y"] = "rare"
    train, test = hold_out(table_dataset(table, latest="day", target="y"), 0.3, 0)
    days = days_of(table.drop(index=7))
    assert days[train].max() < days[test].min()


def test_what_belongs_to_a_latest_row_does_not_train():
    table = dated()
    table["patient"] = np.arange(300) % 100
    dataset = table_dataset(table, roles={"patient": "group"}, target="y", latest="day")
    train, test = hold_out(dataset, 0.1, 0)
    patients = table["patient"].to_numpy()
    assert not set(patients[train]) & set(patients[test])
    assert len(train) + len(test) < 300
    assert len(train) > 150


def test_numbers_and_holes_tell_the_time_too():
    table = copied(200, 0)
    table["year"] = np.repeat(np.arange(2000, 2020), 10).astype(float)
    table.loc[[3, 199], "year"] = np.nan
    dataset = table_dataset(table, target="y", latest="year")
    train, test = hold_out(dataset, 0.3, 0)
    assert test.tolist() == list(range(140, 199))
    assert 199 in train
    assert "Rows without a time (2) train" in said(dataset)


@pytest.mark.parametrize(
    ("latest", "words"),
    [
        ("days", "there is no column “days”; did you mean “day”"),
        ("y", "the column is what is predicted"),
        ("word", "neither dates nor numbers"),
        ("same", "no two different times"),
    ],
)
def test_columns_that_tell_no_time(latest, words):
    table = dated().assign(word="some", same=1.0)
    table.loc[:9, "word"] = "other"
    with pytest.raises(UnusableError, match=words):
        table_dataset(table, target="y", latest=latest)


def test_a_class_that_is_only_late_is_refused():
    table = dated()
    order = np.argsort(days_of(table))
    table.loc[order[-20:], "y"] = "new"
    with pytest.raises(UnusableError, match="class “new” is only among the latest rows"):
        hold_out(table_dataset(table, latest="day"), 0.3, 0)


@pytest.mark.parametrize("kind", ["numbers", "texts"])
def test_rows_that_differ_in_some_column_are_not_equal_however_many_are_zero(kind):
    rng = np.random.default_rng(0)
    rows = rng.integers(1, 60, (4000, 9)) * (rng.random((4000, 9)) < 0.25)
    table = pd.DataFrame(rows.astype(float), columns=list("abcdefghi"))
    table = table if kind == "numbers" else table.astype(str)
    dataset = table_dataset(table.assign(target=["no", "yes"] * 2000))
    codes = pd.Series(equal_items(dataset))
    brute_force = dataset.table.groupby(list(dataset.table), sort=False).ngroup()
    assert codes.nunique() == brute_force.nunique()
    assert (codes.duplicated(keep=False) == dataset.table.duplicated(keep=False)).all()


def test_columns_of_few_levels_beside_one_of_many_give_the_groups_of_pandas():
    rng = np.random.default_rng(0)
    levels = {"level": 3, "member": 2, "town": 3, "zip": 3}
    columns = {name: rng.integers(1, 1 + count, (40, 300)) for name, count in levels.items()}
    amounts = rng.integers(0, 320, (40, 300)) / 100
    tables = [
        pd.DataFrame({name: cells[i] for name, cells in columns.items()}).assign(
            town=columns["town"][i].astype(str), zip=columns["zip"][i].astype(str), w=amounts[i]
        )
        for i in range(40)
    ]
    dataset = table_dataset(tables[0].assign(target=rng.normal(size=300)))
    for table in tables:
        groups = table.groupby(list(table), sort=False).ngroup()
        assert equal_items(replace(dataset, table=table)).tolist() == groups.tolist()
