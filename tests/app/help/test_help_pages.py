"""The help: every strategy, model and score in the window's own words, and no dead links."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace

from app.help.glossary import score_entries
from app.help.help_pages import (
    FOLDER,
    example_pairs,
    model_page,
    page_of,
    pages_by_key,
    references,
    views_of,
)
from app.help.markup import page_html, without_markup
from core.estimators.registry import MODELS
from core.tuning.scores.metrics import METRICS
from core.tuning.strategies.registry import STRATEGIES

PAIRS = example_pairs()
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


def test_strategies_are_told_in_the_windows_words():
    for strategy in OWN:
        page = pages_by_key()[f"strategy-{strategy.name}"]
        assert page.title == strategy.title
        parts = [strategy.does, strategy.costs, strategy.costs_structured, strategy.shows]
        parts += [f"**{o.label}** (`{o.name}`). {o.help}" for o in strategy.options]
        parts += [f"pictures/{strategy.name}-{how}.png" for how in ("well", "badly")]
        parts.append(PAIRS[strategy.name].badly.cure)
        parts += [references()[source] for source in filter(None, strategy.source.split("; "))]
        assert [part for part in parts if part not in page.text] == []


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


def test_views_of_the_pictures_are_those_of_the_window(qapp):
    from app.views.registry import VIEWS

    questions = {view.title: view.question for view in VIEWS.values()}
    for name in PAIRS:
        assert views_of(name), name
        for title, question in views_of(name):
            words = set(question.split()) & set(questions[title].split())
            assert words or title in ("Datasets like this one", "What all datasets predict")


def test_every_example_is_a_command_of_the_program():
    import shlex

    from app.cli.commands import build_parser
    from app.cli.tune_arguments import data_of

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
    directions = {
        entry.key: (entry.title, "Higher is better" in entry.words) for entry in score_entries()
    }
    assert directions == {f"score-{name}": (m.title, m.maximize) for name, m in METRICS.items()}
    for entry in score_entries():
        assert (
            f"## {entry.title} {{#{entry.key}}}\n\n{entry.words}" in pages_by_key()["scores"].text
        )
        assert len(entry.words.split()) > 6, entry.key


def test_the_glossary_is_read_in_no_time():
    code = "import sys, app.help.glossary as g; g.terms_in('trial'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "markdown_it"} & set(done.stdout.split())


# Markup ---------------------------------------------------------------------------------------


def test_pages_have_no_rests_of_markdown_and_whole_tables():
    for page in pages_by_key().values():
        words = re.sub(r"<code>.*?</code>|<[^>]+>", "", page_html(page.text), flags=re.S)
        assert not re.search(r"\*\*|\]\(|\{#|^#|\| ---", words, flags=re.M), page.key
        for table in re.findall(r"^\|.*(?:\n\|.*)+", page.text, flags=re.M):
            # A cell too many would be left out in silence.
            assert len({row.count("|") for row in table.split("\n")}) == 1, page.key


def test_raw_html_and_scripts_stay_text():
    assert page_html("a <b> & `<i>`") == "<p>a &lt;b&gt; &amp; <code>&lt;i&gt;</code></p>"
    assert "<script" not in page_html("<script>alert(1)</script>")
    assert "href" not in page_html("[x](javascript:alert(1))")


def test_anchors_links_and_tables_are_as_qt_reads_them():
    text = "# One {#p}\n\nTwo **three** [four](#five).\n- six\n- *seven*\n\n"
    text += "![no](pictures/a.png)\n\n| a | b |\n| --- | --- |\n| c | d |"
    made = page_html(text, lambda to: f"x.html{to}")
    assert '<h1 id="p"><a name="p"></a>One</h1>' in made
    assert '<a href="x.html#five">four</a>' in made
    assert '<table cellspacing="0" cellpadding="6">' in made
    assert '<th align="left">a</th>' in made
    assert without_markup(text) == "One Two three four. six seven a b c d"


def test_a_model_that_names_a_task_of_a_later_version_has_its_page():
    page = model_page(replace(MODELS["svm"], tasks=("ranking", "binary")))
    assert "One of two classes." in page
    assert "ranking" not in page
