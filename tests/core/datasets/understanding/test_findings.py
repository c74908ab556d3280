"""Findings on tables, and columns that leak the target."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.datasets.columns import describe_column, describe_columns
from core.datasets.dataset import Dataset, DataSource
from core.datasets.finding import UnusableTargetError
from core.datasets.raw_table import DataOptions, RawTable
from core.datasets.samples import SAMPLES
from core.datasets.summary import summarize
from core.datasets.understanding import findings
from core.datasets.understanding.feature_table import from_table

ROWS, COLUMNS = 160, 400


@pytest.fixture
def wide() -> pd.DataFrame:
    """Noise, with odd columns among it."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.normal(size=(ROWS, COLUMNS))).add_prefix("x")
    table["few"] = rng.integers(0, 4, ROWS)
    table["flag"] = rng.integers(0, 2, ROWS)
    table["gaps"] = np.where(rng.random(ROWS) < 0.3, np.nan, rng.normal(size=ROWS))
    table["same"] = 2.5
    table["empty"] = np.nan
    table["key id"] = 2**60 + np.arange(ROWS)  # one float for many of them
    table["zeros"] = np.where(np.arange(ROWS) % 2, -0.0, 0.0)
    table["colour"] = rng.choice(["red", "green"], ROWS)
    return table


def test_columns_are_described_as_they_are_one_by_one(wide):
    wide["y"] = np.arange(ROWS) % 3
    together = describe_columns(wide, "y", {}, {}, {})
    for at, column in enumerate(together[:-1]):
        alone = describe_column(wide[column.name], first=at == 0)
        assert column == alone, column.name
    assert {c.name: c.distinct for c in together}["key id"] == ROWS


@pytest.mark.slow
@pytest.mark.parametrize("task", ["classes", "amounts"])
def test_leaks_are_found_as_by_a_look_at_each(wide, task, monkeypatch):
    rng = np.random.default_rng(4)
    target = rng.integers(0, 3, ROWS) if task == "classes" else rng.normal(size=ROWS) * 40
    wide["in stretches"] = target + 0.1 * rng.random(ROWS) if task == "classes" else 3 * target + 1
    wide["nearly"] = target + rng.normal(size=ROWS) * (0.2 if task == "classes" else 1.0)
    wide["code"] = 7 - target
    wide["y"] = target
    together = leaks_of(wide)
    names = property(lambda check: check._dataset.feature_names)
    monkeypatch.setattr(findings.LeakageCheck, "candidates", names)
    assert together == leaks_of(wide)
    assert {*together[0], *together[1]} >= {"in stretches", "code"}


def test_noise_is_passed_over_and_what_is_unclear_is_not(wide):
    wide["y"] = np.arange(ROWS) % 3
    words = wide["y"].map(["zero", "one", "two"].__getitem__)
    wide["renamed"] = words
    wide["nearly renamed"] = words.where(np.arange(ROWS) % 200 > 0, "two")
    looked = set(findings.LeakageCheck(dataset_of(wide, leaks=True)).candidates)
    assert not looked & {"colour", *(f"x{at}" for at in range(COLUMNS))}
    assert looked >= {"gaps", "nearly renamed"}
    assert leaks_of(wide)[0] == ["renamed"]


def dataset_of(table: pd.DataFrame, **choices: object) -> Dataset:
    read = RawTable("made", table, DataSource("", "sample"), line_of=int)
    return from_table(read, DataOptions(**choices))


def telling(dataset: Dataset) -> list[str]:
    return [f.column for f in dataset.findings if "alone tells" in f.sentence]


def leaks_of(table: pd.DataFrame) -> tuple[list[str], list[str]]:
    """The columns left out for giving the target away, and those that tell it without error."""
    dataset = dataset_of(table)
    return [c.name for c in dataset.columns if c.note == findings.GIVES_AWAY], telling(dataset)


@pytest.fixture
def noise() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])


@pytest.mark.slow
@pytest.mark.parametrize("rows", [300, 12_000])
def test_columns_that_give_the_target_away(rows):
    rng = np.random.default_rng(1)
    target = rng.choice(["no", "maybe", "yes"], rows)
    code = pd.Series(target).map({"no": 0.0, "maybe": 1.0, "yes": 2.0})
    table = pd.DataFrame(
        {
            "above": code + rng.uniform(0, 0.4, rows),
            "word": np.char.add(target, rng.choice([" then", " now"], rows)),
            "nearly": np.where(np.arange(rows) == 7, 1 - code, code) + rng.uniform(0, 0.4, rows),
            "other": rng.normal(size=rows),
            "y": target,
        }
    )
    dataset = dataset_of(table, leaks=True)
    assert telling(dataset) == ["above", "word"]
    assert all(f.serious for f in dataset.findings if f.column in ("above", "word"))
    assert dataset.findings[0].serious
    dataset = dataset_of(table)  # nothing else tells the target: out from the start
    left = {f.column: f.proposal.roles for f in dataset.findings if "leaks the" in f.sentence}
    assert {"above", "word"} <= set(left)
    assert left["word"] == {"word": "feature"}
    assert "other" in dataset.feature_names
    assert telling(dataset_of(table, roles={"word": "feature"})) == ["word"]


def test_a_linear_copy_gives_an_amount_away(noise):
    target = np.random.default_rng(2).normal(size=300)
    table = noise.assign(copy=-3 * target + 7, close=target + 0.01 * noise["a"], y=target)
    assert telling(dataset_of(table, leaks=True)) == ["copy"]
    assert dataset_of(table).feature_names == ["a", "b", "c"]  # 1 − r² of “close” is 0.0001


def test_a_curve_of_the_target_is_told_and_stays(noise):
    target = np.random.default_rng(3).exponential(size=300).round(2)
    table = noise.assign(log=np.log1p(target), down=np.exp(-9 * target), y=target)
    table["turns"] = (target - 1.0) ** 2
    table["close"] = np.log1p(target) + np.where(np.arange(300) == 7, 0.5, 0.0)
    assert telling(dataset_of(table)) == ["log", "down"]
    assert dataset_of(table).feature_names == ["a", "b", "c", "log", "down", "turns", "close"]


def test_where_other_columns_tell_the_target_too_nothing_is_left_out():
    rng = np.random.default_rng(4)
    target = rng.integers(0, 2, 200)
    spread = rng.uniform(0, 0.4, (200, 3))
    table = pd.DataFrame(target[:, None] + spread, columns=["a", "b", "c"])
    table["a"] += rng.normal(0, 0.25, 200)
    table["b"] += rng.normal(0, 0.25, 200)
    dataset = dataset_of(table.assign(y=target))
    assert dataset.feature_names == ["a", "b", "c"]
    assert telling(dataset) == ["c"]


def test_a_leak_of_one_class_in_fifty():
    rng = np.random.default_rng(5)
    rare = rng.permutation(np.repeat([0, 1], [2940, 60]))
    table = pd.DataFrame(rng.normal(size=(3000, 6)), columns=list("abcdef"))
    table["after"] = np.where(rare, rng.uniform(5, 9, 3000), rng.uniform(0, 4, 3000))
    table["rare"] = rare ^ (rng.random(3000) < 0.2)  # right in four rows of five: merely good
    dataset = dataset_of(table.assign(y=rare))
    assert dataset.feature_names == [*"abcdef", "rare"]


def test_noise_is_never_taken_for_a_leak():
    """Of 2,000 columns of noise none is left out, though two classes of ten rows are few."""
    rng = np.random.default_rng(6)
    table = pd.DataFrame(rng.normal(size=(20, 2000))).add_prefix("x")
    table["y"] = np.repeat(["no", "yes"], 10)
    assert len(dataset_of(table).feature_names) == 2000


def test_what_is_right_in_all_of_few_rows_is_no_leak():
    """With a mistake in fifty rows a column is often right in all of forty: merely very good."""
    rng = np.random.default_rng(7)
    target = np.repeat(["no", "yes"], 20)
    table = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "c"])
    table["sign"] = np.where(target == "yes", "present", "absent")
    table["size"] = np.where(target == "yes", 3, 0) + rng.uniform(0, 2, 40)
    dataset = dataset_of(table.assign(y=target))
    assert dataset.feature_names == ["a", "b", "c", "sign", "size"]
    assert telling(dataset) == ["sign", "size"]


@pytest.mark.slow
def test_of_very_many_columns_the_telling_ones_are_found_before_one_is_left_out():
    """Forty of 800 columns tell the target as well as genes tell a disease: an easy question."""
    rng = np.random.default_rng(8)
    target = np.arange(120) % 2
    table = pd.DataFrame(rng.normal(size=(120, 800))).add_prefix("x")
    table.iloc[:, 5::20] += 3 * target[:, None]
    table["best"] = 2 * target + rng.uniform(0, 1, 120)
    assert "best" in dataset_of(table.assign(y=target)).feature_names
    table.iloc[:, 5::20] -= 3 * target[:, None]
    assert "best" not in dataset_of(table.assign(y=target)).feature_names


def test_days_and_rare_values_are_no_leak():
    """All rows of a day, or of one of many shops, may well be alike."""
    rng = np.random.default_rng(9)
    at = np.arange(240) % 30
    days = pd.date_range("2024-03-01", periods=30).strftime("%Y-%m-%d")
    table = pd.DataFrame({"x": rng.normal(size=240), "day": days[at]})
    table["shop"] = [f"shop {one}" for one in at]
    table["y"] = np.where(at % 2, "yes", "no")
    assert dataset_of(table).feature_names == ["x", "day", "shop"]


def test_rare_classes(noise):
    labels = ["common"] * 290 + ["rare"] * 9 + ["single"]
    dataset = dataset_of(noise.assign(y=labels))
    [finding] = [f for f in dataset.findings if "Rare classes" in f.sentence]
    assert "“rare” has 9 rows" in finding.sentence
    # Nothing can be learned of one row, and it is no reason to refuse the others.
    assert dataset.classes == ("common", "rare")
    lonely = next(f for f in dataset.findings if "“single”" in f.sentence)
    assert "has only one row, which is left out" in lonely.sentence
    assert lonely.serious


def test_a_rare_class_of_a_column_with_numbers_beyond_the_exact_ones(noise):
    codes = [1e18] * 200 + [-1e18] * 98 + [0.0, np.nan]
    dataset = dataset_of(noise.assign(y=codes), task="multiclass")
    assert dataset.set_aside == 2
    assert any("Class “0” has only one row" in finding.sentence for finding in dataset.findings)


def test_lost_columns_and_gaps(noise):
    noise.loc[:200, "a"] = np.nan
    noise["nothing"] = np.nan
    noise["same"] = 4
    dataset = dataset_of(noise.assign(y=np.arange(300) % 2))
    sentences = {f.column: f.sentence for f in dataset.findings}
    assert sentences["nothing"] == "“nothing” is left out: every value is missing."
    assert sentences["same"] == "“same” is left out: the same value in every row."
    assert sentences["a"] == "“a” is missing in 201 of 300 rows."


def test_only_a_counting_column_is_better_than_none():
    dataset = dataset_of(pd.DataFrame({"x": np.arange(40), "y": np.arange(40) * 2.5}))
    assert dataset.feature_names == ["x"]
    assert dataset.columns[0].note


def test_the_groups_of_the_generated_sample_are_useful_and_useless():
    """The truth is recoverable: each useful column correlates with the class, noise does not."""
    dataset = SAMPLES["groups"].read()
    ill = (dataset.target == "yes").astype(float)
    strength = dataset.table.corrwith(pd.Series(ill)).abs()
    useful = strength[[c for c in strength.index if c.startswith(("blood_", "lifestyle_"))]]
    assert useful.mean() > 4 * strength.drop(useful.index).mean()
    groups = {"blood", "lifestyle", "noisea", "gene", "weather", "stars"}
    assert set(summarize(dataset)["prefixes"]) == groups


def test_only_texts_of_several_words_are_offered_as_texts(read):
    rng = np.random.default_rng(0)
    words = ["ship", "storm", "bread", "onion", "comet", "moon"]
    columns = {
        "a": rng.normal(size=60),
        "code": [f"V{at:04}" for at in range(60)],
        "remark": [f"{' '.join(rng.choice(words, 3))} {at}" for at in range(60)],
        "number_id": rng.permutation(60),
        "y": rng.integers(0, 2, 60),
    }
    dataset = read(pd.DataFrame(columns))
    offers = {f.column: f.proposal for f in dataset.findings if "is left out" in f.sentence}
    assert offers["code"] is None
    assert offers["number_id"].option == "--role number_id=feature"
    assert offers["remark"].kinds == {"remark": "text"}
    assert "remark" in read(pd.DataFrame(columns), kinds={"remark": "text"}).feature_names


def labelled_texts(**more: list) -> pd.DataFrame:
    """Texts with a label, which the column "code" says in other words."""
    words = ["ship", "storm", "harbour", "bread", "onion", "soup", "comet", "planet", "moon"]
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(words, 12)) + "." for _ in range(90)]
    columns = {"text": texts, "code": [7, 3, 5] * 30, **more, "label": ["spam", "ham", "news"] * 30}
    return pd.DataFrame(columns)


def test_texts_with_a_label_in_other_words_propose_topics(read):
    table = labelled_texts()
    assert read(table).feature_names == ["text"]
    with pytest.raises(UnusableTargetError) as refused:
        read(table, roles={"text": "ignore"})
    assert "“code”: it leaks the target" in refused.value.sentence
    assert "or choose topics as the task" in refused.value.sentence
    assert refused.value.texts == ("text",)
    # A person may insist.
    assert read(table, roles={"code": "feature"}).feature_names == ["text", "code"]
    assert read(table, task="topics", target="text").feature_names == ["text"]


def test_a_column_that_says_the_target_in_other_words_is_left_out(read, write):
    table = labelled_texts(length=[i % 11 for i in range(90)])
    dataset = read(table, test_file=write(table, "test.csv"))
    assert dataset.feature_names == dataset.test.feature_names == ["text", "length"]
    assert "code" in dataset.left_out
    said = [finding.sentence for finding in dataset.findings]
    assert any(one.startswith("“code” is left out: it leaks the target.") for one in said)


@pytest.mark.parametrize(
    ("every", "remarks"),
    [(9, ["Ring lost.", "No nest seen.", "Second brood."]), (3, [f"note {n}" for n in range(9)]),
     (9, ["Ring lost."])],
)  # fmt: skip
def test_remarks_on_some_rows_are_no_guess_of_the_target(read, every, remarks):
    table = pd.DataFrame({"wing": range(90), "site": ["lake", "wood"] * 45})
    table["notes"] = [
        remarks[row % len(remarks)] if row % every == 0 else None for row in range(90)
    ]
    assert read(table).target_name == "site"
    # Few values that come again, or words on every row, may be an outcome.
    outcome = table.assign(notes=[["all well", None, "not well"][row % 3] for row in range(90)])
    assert read(outcome).target_name == "notes"
    with pytest.raises(UnusableTargetError, match="column notes"):  # where a person wants them
        read(table.assign(notes=None), target="notes")


def test_a_column_that_is_nearly_the_target_stays(read):
    table = pd.DataFrame({"copy": ["a", "b"] * 40, "other": range(80), "kind": [0, 1] * 40})
    table.loc[0, "copy"] = "b"
    assert "copy" in read(table).feature_names
    finer = pd.DataFrame({"x": [0.1, 1.1, 0.2, 1.2] * 20, "z": [1, 2] * 40, "kind": [0, 1] * 40})
    assert read(finer).feature_names == ["x"]
    dataset = read(finer[["z", "kind"]])  # nothing else is there: told, and kept
    assert dataset.feature_names == ["z"]
    assert dataset.telling == ("z",)
    assert any("alone tells the target" in finding.sentence for finding in dataset.findings)


def test_the_same_of_many_columns_is_one_finding():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(100, 30))).add_prefix("c")
    table.iloc[:80, :9] = np.nan
    table.iloc[:, 9:16] = 4
    table["y"] = np.arange(100) % 2
    same, gaps = dataset_of(table).findings
    assert "“c2” and 6 other columns are each missing in more than half of the 100" in gaps.sentence
    assert gaps.proposal.roles == {f"c{at}": "ignore" for at in range(9)}
    assert "“c11” and 4 other columns are left out: of each, the same value" in same.sentence
    assert same.proposal is None
    few = dataset_of(table.drop(columns=[f"c{at}" for at in range(5, 30)]))
    assert [f.column for f in few.findings] == [f"c{at}" for at in range(5)]


def test_many_columns_that_give_the_target_away_are_offered_together():
    rng = np.random.default_rng(0)
    target = np.arange(120) % 2
    table = pd.DataFrame(rng.normal(size=(120, 3))).add_prefix("c")
    for at in range(7):
        table[f"after {at}"] = 2 * target + rng.uniform(0, 1, 120)
    dataset = dataset_of(table.assign(y=target))
    assert dataset.feature_names == ["c0", "c1", "c2"]
    [finding] = dataset.findings
    assert "and 4 other columns are left out: each leaks the target." in finding.sentence
    assert finding.serious
    assert finding.proposal.option == "--leaks"
    names = [f"after {at}" for at in range(7)]
    assert finding.proposal.roles == dict.fromkeys(names, "feature")
    used = dataset_of(table.assign(y=target), leaks=True)
    assert used.feature_names == ["c0", "c1", "c2", *names]
    [finding] = used.findings
    assert finding.sentence.startswith("“after 0”, “after 1”, “after 2” and 4 other columns tell")
    assert finding.proposal.roles == dict.fromkeys(names, "ignore")
