"""The model card: what it says and leaves out; names of every kind stay text; none is lost."""

import json
import re
from dataclasses import replace

import pytest
from folder_runs import SUBJECTS, topic_run
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from core.errors import UnusableError
from core.export.exporters import check_export, export_run
from core.export.finished_run import finished_run
from core.export.markup import markdown_table, markdown_text, yaml_text
from core.export.model_card import _residual_sentences, card_text, check_beside
from core.tuning.problem_setup import read_data
from core.tuning.results.training_rows import training_rows_of
from core.tuning.run_results import Gain
from core.tuning.why.answer_types import ResidualBin, Residuals

HOSTILE = [
    *("a | b", "`rm`", "<img src=x onerror=1>", "[x](http://evil)", "line\nbreak", "- item"),
    *("# title", "key: value", "&amp; *&*", "!!python/object:os.system", "😀 ünïcode"),
    *("\x1b[31mred", "a" * 9000, "---", "https://evil.example", "www.evil.example"),
    *("@team #12", "\u202eright", "~~x~~ $y$", "'\"\\"),
]
markdown = MarkdownIt("commonmark").enable(["table", "strikethrough"])
PAIRED = ("heading", "paragraph", "table", "thead", "tbody", "tr", "th", "td", "bullet_list")
PLAIN = {f"{name}_{end}" for name in (*PAIRED, "list_item", "strong") for end in ("open", "close")}
PLAIN |= {"inline", "text"}


def tokens_of(text):
    for token in markdown.parse(text):
        yield token
        yield from token.children or ()


@pytest.fixture
def run(make_run):
    run = finished_run(make_run("binary", "logistic").folder)
    training = training_rows_of(read_data(run.plan.data))
    return replace(run, takeaway=replace(run.takeaway, training=training))


def body_of(card):
    return card.split("---\n", 2)[2]


def test_it_says_what_the_run_knows(run):
    card = card_text(run, "skops")
    assert "“y”: two classes." in card
    assert f"It is fitted on {run.takeaway.kept_rows} rows of data.csv." in card
    table = read_data(run.plan.data).table
    low, high = table["size_a"].min(), table["size_a"].max()
    assert f"| size\\_a | number | {low:.3g} to {high:.3g} | 0 |".replace("-", "−") in card.replace(
        "| −", "| −"
    )
    counts = table["shop"].value_counts()
    for shop, count in counts.items():
        is_common = count >= 10 and shop in counts.index[:5]
        assert bool(re.search(rf"{shop}\b", card)) == is_common, (shop, count)
    assert list(tokens_of(body_of(card)))


def test_what_is_not_shown_to_be_better_says_so_first(run):
    warning = "not shown to be better than knowing nothing"
    sure = Gain("accuracy", 0.2, 0.1, 0.3, real=True)
    unsure = replace(sure, low=-0.1, real=False)
    cards = [
        body_of(
            card_text(replace(run, results=replace(run.results, gain_over_baseline=g)), "skops")
        )
        for g in (sure, unsure)
    ]
    assert warning not in cards[0]
    assert warning in cards[1].split("\n\n")[1]


def test_no_values_without_examples(run):
    card = card_text(replace(run, allows_examples=False), "skops")
    assert " to " not in "".join(line for line in card.splitlines() if line.startswith("| size"))
    assert "shop 1" not in card
    assert "red" not in card.split("## What it predicts from")[1].split("##")[0].split()


def test_topics_are_told_without_the_words_of_rows(tmp_path):
    card = card_text(finished_run(topic_run(tmp_path)), "folder")
    assert "“text”" not in card.split("## What it predicts from")[0]
    assert not any(word in card for word in " ".join(SUBJECTS).split() if len(word) > 4)
    assert "Whether it is better than knowing nothing was not tested." in card


def test_numbers_are_told_with_their_interval_and_where_they_are_off(make_run):
    made = make_run("regression", "linear")
    run = finished_run(made.folder)
    bins = {
        "": [ResidualBin(3.0, 0.5, 0.2, 0.8, 40), ResidualBin(9.0, 0.1, -0.2, 0.3, 40)],
        "shop": [
            ResidualBin("shop 1", -2.0, -3.0, -1.0, 12),
            ResidualBin("rare", 9.0, 8.0, 10.0, 2),
        ],
    }
    residuals = Residuals([], [], 80, 0, {}, bins)
    sentences = list(_residual_sentences(residuals, ["", "shop"], "€"))
    assert sentences == [
        "Around shop 1 of “shop” it is too low, by 2\u00a0€ on average.",
        "Around 3 of predictions it is too high, by 0.5\u00a0€ on average.",
    ]
    assert "“y”: a number." in card_text(run, "onnx")


@settings(max_examples=40)
@given(names=st.lists(st.text(min_size=1) | st.sampled_from(HOSTILE), min_size=2, max_size=6))
def test_any_name_stays_text(names):
    table = markdown_table(names, [names, names[::-1]])
    assert {token.type for token in tokens_of(table)} <= PLAIN
    assert len(table) < 3 * len(names) * 200
    sentence = markdown_text(f"Of “{names[0]}” it finds 3.")
    assert {token.type for token in tokens_of(f"- {sentence}")} <= PLAIN
    (line,) = sentence.splitlines()
    assert line.isprintable()
    yaml = pytest.importorskip("yaml", reason="PyYAML reads what others read")
    signature = {"inputs": json.dumps([{"name": name} for name in names])}
    read = yaml.safe_load(yaml_text({"signature": signature, "names": [[], {}, 1.5, None, True]}))
    assert [column["name"] for column in json.loads(read["signature"]["inputs"])] == names
    assert read["names"] == [[], {}, 1.5, None, True]


def test_a_card_of_hostile_names(run):
    yaml = pytest.importorskip("yaml", reason="PyYAML reads what others read")
    takeaway, columns = run.takeaway, run.takeaway.columns
    new = dict(zip([column.name for column in columns], HOSTILE, strict=False))
    training = takeaway.training
    renamed = replace(
        takeaway,
        dataset=HOSTILE[2],
        target=new[takeaway.target],
        feature_names=[new[name] for name in takeaway.feature_names],
        columns=[replace(column, name=new[column.name], unit="`kg`|") for column in columns],
        training=replace(
            training, columns=tuple(replace(c, name=new[c.name]) for c in training.columns)
        ),
    )
    card = card_text(replace(run, name=HOSTILE[12], takeaway=renamed), "mlflow")
    assert len(card) < 12_000
    assert {token.type for token in tokens_of(body_of(card))} <= PLAIN
    front = yaml.safe_load(card.split("---\n", 2)[1])
    (result,) = front["model-index"][0]["results"]
    assert {m["type"]: m["value"] for m in result["metrics"]} == run.results.test


def test_a_card_stands_beside_the_model_and_what_a_person_wrote_stays(run, tmp_path):
    path = tmp_path / "out" / "m.skops"
    path.parent.mkdir()
    export_run(run, path)
    card = path.with_name("m.skops.card.md")
    assert sorted(path.parent.iterdir()) == [path, card]
    first = card.read_text()
    export_run(replace(run, name="another"), path)  # nobody has changed it
    assert card.read_text() != first
    card.write_text(card.read_text() + "\nLicence: ours.\n")
    before = path.read_bytes()
    for export in (check_export, lambda path: export_run(run, path)):
        with pytest.raises(UnusableError, match="this model card was changed"):
            export(path)
    assert path.read_bytes() == before
    export_run(run, tmp_path / "out" / "n.skops", with_card=False)
    assert not (tmp_path / "out" / "n.skops.card.md").exists()


def test_an_empty_or_strange_card_is_a_persons(tmp_path):
    for content in (b"", b"\xff\xfe", b"mine"):
        (tmp_path / "m.skops.card.md").write_bytes(content)
        with pytest.raises(UnusableError, match="is no card of Tunescope's"):
            check_beside(tmp_path / "m.skops")
