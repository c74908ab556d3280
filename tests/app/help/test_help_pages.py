"""The help: every strategy, model and score in the window's own words, and no dead links."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from app.help.help_pages import FOLDER, page_of, pages_by_key
from app.help.markup import page_html, without_markup
from app.help.model_help import model_page
from app.help.score_help import score_descriptions
from app.help.strategy_help import PAPERS, views_of
from app.help.view_examples import PAIRS
from core.estimators.registry import MODELS
from core.tuning.scores.metrics import METRICS
from core.tuning.strategies.registry import STRATEGIES

OWN = [s for s in STRATEGIES.values() if s.name in PAIRS]


def test_every_link_leads_somewhere():
    for page in pages_by_key().values():
        for place in page.links:
            assert page_of(place) is not None, f"{page.key}: #{place}"
        assert not re.findall(r"\]\((?!#|pictures/)", page.text), page.key


def test_every_place_is_there_once():
    places = [place for page in pages_by_key().values() for place in page.anchors]
    assert len(places) == len(set(places))


def test_every_picture_is_there_small_and_used():
    shown = {
        name
        for page in pages_by_key().values()
        for name in re.findall(r"\(pictures/(.*?)\)", page.text)
    }
    there = {path.name for path in (FOLDER / "pictures").glob("*.png")}
    assert shown == there
    assert all((FOLDER / "pictures" / name).stat().st_size <= 60_000 for name in there)


def test_every_strategy_of_ours_has_its_pair():
    ours = {s.name for s in STRATEGIES.values() if s.load.__module__.startswith("core.")}
    assert ours == set(PAIRS)


@pytest.mark.parametrize("strategy", OWN, ids=lambda s: s.name)
def test_a_strategy_is_told_in_the_windows_words(strategy):
    page = pages_by_key()[f"strategy-{strategy.name}"]
    assert page.title == strategy.title
    told = page.text
    for words in (strategy.does, strategy.costs, strategy.costs_structured, strategy.shows):
        assert words in told
    for option in strategy.options:
        assert f"**{option.label}** (`{option.name}`). {option.help}" in told
    for how in ("well", "badly"):
        assert f"pictures/{strategy.name}-{how}.png" in told
    assert PAIRS[strategy.name].badly.cure in told
    for source in filter(None, strategy.source.split("; ")):
        assert PAPERS[source] in told


def test_defaults_of_options_stand_in_the_last_cell():
    rows = [
        line for line in pages_by_key()["strategy-gp"].text.split("\n") if line.startswith("| **")
    ]
    last = {re.search(r"\(`(\w+)`\)", row)[1]: row.split("|")[-2].strip() for row in rows}
    assert last == {
        "acquisition": "ei",
        "kernel": "matern52",
        "start_trials": "automatic (-1)",
        "stop_when_certain": "no",
        "as_published": "no",
        "earlier": "2",
    }


@pytest.mark.parametrize("strategy", OWN, ids=lambda s: s.name)
def test_its_views_are_those_of_the_window(strategy, qapp):
    from app.views.registry import VIEWS

    known = {view.title: view for view in VIEWS.values()}
    views = views_of(strategy.name)
    assert views
    for title, question in views:
        assert title in known
        assert question
        words = set(question.split()) & set(known[title].question.split())
        assert words or title in ("Datasets like this one", "What all datasets predict")


def test_views_json_names_every_strategy():
    kept = json.loads((FOLDER / "pictures" / "views.json").read_text(encoding="utf-8"))
    assert list(kept) == list(PAIRS)


def test_every_example_is_a_command_of_the_program():
    import shlex

    from app.cli.commands import build_parser
    from app.cli.plan_from_arguments import data_of

    for name, pair in PAIRS.items():
        for example in (pair.well, pair.badly):
            given = build_parser().parse_args(["tune", *shlex.split(example.run)])
            assert given.strategy == name
            assert data_of(given).file.startswith("sample:")


def test_every_model_is_told_in_the_windows_words():
    for model in MODELS.values():
        page = pages_by_key()[f"model-{model.name}"]
        assert page.title == model.title
        assert model.good_for in page.text
        assert model.cost in page.text
        assert (
            f"[{model.title}](#model-{model.name}). {model.good_for}"
            in pages_by_key()["model"].text
        )
        if model.name != "auto":
            for task in model.tasks:
                for axis in model.space(task):
                    assert f"| {axis.label} (`{axis.name}`)" in page.text


def test_the_scores_are_those_of_the_registry():
    told = {one.name: (one.title, "Higher is better" in one.words) for one in score_descriptions()}
    assert told == {name: (one.title, one.maximize) for name, one in METRICS.items()}


def test_the_glossary_is_read_in_no_time():
    code = "import sys, app.help.glossary as g; g.terms_in('trial'); print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_every_score_has_its_entry_and_words():
    for name, metric in METRICS.items():
        assert f"## {metric.title} {{#score-{name}}}" in pages_by_key()["scores"].text
        own = pages_by_key()["scores"].text.split(f"{{#score-{name}}}\n\n")[1].split("\n")[0]
        assert len(own.split()) > 6, name


# Markup ---------------------------------------------------------------------------------------


class Balanced(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in ("img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_every_page_is_balanced_html_without_rests_of_markdown():
    for page in pages_by_key().values():
        made = page_html(page.text)
        parser = Balanced()
        parser.feed(made)
        assert not parser.open, page.key
        words = re.sub(r"<code>.*?</code>|<pre>.*?</pre>|<[^>]+>", "", made, flags=re.S)
        assert not re.search(r"\*\*|\]\(|\{#|^#|\| ---", words, flags=re.M), page.key


def test_rows_of_tables_have_as_many_cells_as_their_head():
    for page in pages_by_key().values():
        for table in re.findall(r"<table.*?</table>", page_html(page.text)):
            rows = re.findall(r"<tr>(.*?)</tr>", table)
            assert len({row.count("</t") for row in rows}) == 1, page.key


def test_what_looks_like_html_stays_text():
    assert page_html("a <b> & `<i>`") == "<p>a &lt;b&gt; &amp; <code>&lt;i&gt;</code></p>"


def test_markup_by_hand():
    text = "# One {#p}\n\nTwo **three** [four](#five).\n- six\n- *seven*\n\n"
    text += "| a | b |\n| --- | --- |\n| c | d |"
    made = page_html(text, lambda to: f"x.html{to}")
    assert '<h1 id="p"><a name="p"></a>One</h1>' in made
    assert '<p>Two <b>three</b> <a href="x.html#five">four</a>.</p>' in made
    assert "<ul><li>six</li><li><i>seven</i></li></ul>" in made
    assert '<td align="left">c</td><td align="left">d</td>' in made
    assert without_markup(text) == "One Two three four. - six - seven a b c d"


def test_a_model_that_names_a_task_of_a_later_version_has_its_page():
    page = model_page(replace(MODELS["svm"], tasks=("ranking", "binary")))
    assert "One of two classes." in page
    assert "ranking" not in page
