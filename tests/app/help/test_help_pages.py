"""The help: every strategy, model and score in the window's words, here and as HTML."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from app.cli import main
from app.cli.commands import build_parser
from app.cli.tune_arguments import data_of
from app.help.glossary import read_help, score_entries
from app.help.help_pages import FOLDER, example_pairs, model_page, page_of, pages_by_key, views_of
from app.help.html_folder import write_help
from app.help.page_html import page_html, without_markup
from app.views.registry import VIEWS
from core.errors import UnusableError
from core.estimators.registry import MODELS
from core.tuning.scores.metrics import METRICS
from core.tuning.strategies.registry import STRATEGIES

PAIRS = example_pairs()


def test_every_link_leads_somewhere_and_every_place_is_there_once():
    pages = pages_by_key().values()
    for page in pages:
        for place in page.linked_anchors:
            assert page_of(place) is not None, f"{page.key}: #{place}"
        assert not re.findall(r"\]\((?!#|pictures/)", page.text), page.key
    places = [place for page in pages for place in page.anchors]
    assert len(places) == len(set(places))


def test_every_picture_is_there_small_and_used():
    texts = " ".join(page.text for page in pages_by_key().values())
    there = {path.name: path.stat().st_size for path in (FOLDER / "pictures").glob("*.png")}
    assert set(re.findall(r"\(pictures/(.*?)\)", texts)) == set(there)
    assert max(there.values()) <= 60_000


def test_strategies_are_told_in_the_windows_words():
    ours = {s.name for s in STRATEGIES.values() if s.load.__module__.startswith("core.")}
    assert ours == set(PAIRS)
    sources = read_help("references.json")
    for strategy in (STRATEGIES[name] for name in PAIRS):
        page = pages_by_key()[f"strategy-{strategy.name}"]
        assert page.title == strategy.title
        parts = [strategy.does, strategy.costs, strategy.costs_structured, strategy.shows]
        parts += [f"**{o.label}** (`{o.name}`). {o.help}" for o in strategy.options]
        parts += [f"pictures/{strategy.name}-{how}.png" for how in ("well", "badly")]
        parts.append(PAIRS[strategy.name].badly.cure)
        parts += [sources[source] for source in filter(None, strategy.source.split("; "))]
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
    questions = {view.title: view.question for view in VIEWS.values()}
    for name in PAIRS:
        assert views_of(name), name
        for title, question in views_of(name):
            words = set(question.split()) & set(questions[title].split())
            assert words or title in ("Datasets like this one", "What all datasets predict")


def test_every_example_is_a_command_of_the_program():
    for name, pair in PAIRS.items():
        for example in (pair.well, pair.badly):
            given = build_parser().parse_args(["tune", *shlex.split(example.run)])
            assert given.strategy == name
            assert data_of(given).file.startswith("sample:")


def test_every_model_is_told_in_the_windows_words():
    overview = pages_by_key()["model"].text
    for model in MODELS.values():
        page = pages_by_key()[f"model-{model.name}"]
        assert page.title == model.title
        assert f"[{model.title}](#model-{model.name}). {model.good_for}" in overview
        parts = [model.good_for, model.cost]
        if model.name != "auto":
            axes = (axis for task in model.tasks for axis in model.space(task))
            parts += [f"| {axis.label} (`{axis.name}`)" for axis in axes]
        assert [part for part in parts if part not in page.text] == []


def test_the_scores_are_those_of_the_registry():
    scores = {
        entry.key: (entry.title, "Higher is better" in entry.words) for entry in score_entries()
    }
    assert scores == {f"score-{name}": (m.title, m.maximize) for name, m in METRICS.items()}
    page = pages_by_key()["scores"].text
    for entry in score_entries():
        assert f"## {entry.title} {{#{entry.key}}}\n\n{entry.words}" in page
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


def test_anchors_links_and_tables_are_as_qt_reads_them_and_scripts_stay_text():
    text = "# One {#p}\n\nTwo **three** [four](#five).\n- six\n- *seven*\n\n"
    text += "![no](pictures/a.png)\n\n| a | b |\n| --- | --- |\n| c | d |"
    made = page_html(text, lambda to: f"x.html{to}")
    assert '<h1 id="p"><a name="p"></a>One</h1>' in made
    assert '<a href="x.html#five">four</a>' in made
    assert '<table cellspacing="0" cellpadding="6">' in made
    assert '<th align="left">a</th>' in made
    assert without_markup(text) == "One Two three four. six seven a b c d"
    assert page_html("a <b> & `<i>`") == "<p>a &lt;b&gt; &amp; <code>&lt;i&gt;</code></p>"
    assert "<script" not in page_html("<script>alert(1)</script>")
    assert "href" not in page_html("[x](javascript:alert(1))")


def test_a_model_that_names_a_task_of_a_later_version_has_its_page():
    page = model_page(replace(MODELS["svm"], tasks=("ranking", "binary")))
    assert "One of two classes." in page
    assert "ranking" not in page


# As a folder of pages -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("help") / "pages"
    assert write_help(made) == made / "index.html"
    return made


@pytest.fixture(scope="module")
def texts(folder):
    return {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.html")}


def test_every_page_and_picture_is_there_and_nothing_comes_from_elsewhere(folder, texts):
    assert set(texts) == {f"{key}.html" for key in pages_by_key()} | {"index.html"}
    for name, body in texts.items():
        for picture in re.findall(r'<img src="([^"]+)" alt="[^"]+"', body):
            assert (folder / picture).is_file()
        assert not re.search(r"""(?:src|href)=["'](?:https?:)?//|@import|url\(""", body)
        assert "prefers-color-scheme: dark" in body
        assert "<script" not in body or name == "index.html"


def test_every_link_of_every_file_leads_to_a_place_in_the_folder(texts):
    for name, body in texts.items():
        for link in re.findall(r'href="([^"]+)"', body):
            file, _, place = link.partition("#")
            assert file in texts, f"{name}: {link}"
            assert not place or f'id="{place}"' in texts[file], f"{name}: {link}"


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no JavaScript to run")
def test_the_script_is_sound(texts, tmp_path):
    [code] = re.findall(r"<script>(.*)</script>", texts["index.html"], flags=re.S)
    script = tmp_path / "search.js"
    script.write_text(code, encoding="utf-8")
    subprocess.run(["node", "--check", script], check=True)


def test_it_can_be_written_again_but_over_nothing_else(folder, tmp_path):
    write_help(folder)
    other = tmp_path / "mine"
    other.mkdir()
    (other / "index.html").write_text("my own page", encoding="utf-8")
    with pytest.raises(UnusableError, match="holds other files"):
        write_help(other)
    assert [path.name for path in other.iterdir()] == ["index.html"]
    assert (other / "index.html").read_text(encoding="utf-8") == "my own page"
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    with pytest.raises(UnusableError):
        write_help(file)


def test_the_command_writes_prints_and_lists(tmp_path, capsys):
    assert main(["help", "--html", str(tmp_path / "pages")]) == 0
    assert Path(capsys.readouterr().out.strip()) == tmp_path / "pages" / "index.html"
    assert main(["help"]) == 0
    listed = capsys.readouterr().out
    assert all(f"{key}: {page.title}" in listed for key, page in pages_by_key().items())
    assert main(["help", "strategy-gp"]) == 0
    assert capsys.readouterr().out == pages_by_key()["strategy-gp"].text
    assert main(["help", "strategy-pg"]) == 2
    assert "did you mean strategy-gp" in capsys.readouterr().err
