"""The papers measured again: every table is on a page, and the repository has the same page."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.help.help_pages import pages_by_key
from app.help.paper_help import command, overview, paper_pages, repository_page
from core.reproduction.outcomes import FOLDER, load_result, result_tables
from core.reproduction.registry import REPRODUCTIONS
from core.reproduction.verdicts import HOLDS, IN_PART, NOT, VERDICTS

PAGE = Path(__file__).parents[3] / "PAPERS.md"


def test_every_table_has_a_verdict_and_a_page():
    assert set(VERDICTS) == set(REPRODUCTIONS)
    whole = "".join(paper_pages().values())
    for name, verdict in VERDICTS.items():
        assert verdict.judgement in (HOLDS, IN_PART, NOT)
        assert f"{{#{name}}}" in whole
        assert f"    {command(REPRODUCTIONS[name])}\n" in whole
        assert verdict.claim in overview()


@pytest.mark.parametrize("name", [path.stem for path in sorted(FOLDER.glob("*.json"))])
def test_every_figure_that_was_kept_is_on_a_page(name):
    found = load_result(name)
    assert found is not None
    whole = "".join(paper_pages().values())
    for part in result_tables(found):
        for row in part.rows:
            assert f"| {' | '.join(text or '–' for text in row)} |" in whole


@pytest.mark.skipif(not PAGE.is_file(), reason="the page is part of the checkout alone")
def test_the_repositorys_page_is_what_the_help_says():
    assert PAGE.read_text(encoding="utf-8") == repository_page()


def test_links_of_the_repositorys_page_lead_somewhere():
    page = repository_page()
    assert not re.search(r"\{#", page)
    anchors = {_anchor(line) for line in page.split("\n") if line.startswith("#")}
    assert set(re.findall(r"\]\(#([\w.-]+)\)", page)) <= anchors


def test_the_help_has_them_without_what_measures_them():
    assert pages_by_key()["papers-foo"].parent == "papers"
    asked = "import sys, app.help.help_pages as p; p.pages_by_key(); print(*sys.modules)"
    brought = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "core.reproduction.registry" in brought
    assert not {"core.reproduction.measures", "core.reproduction.foo"} & set(brought)


def _anchor(heading: str) -> str:
    """As GitHub makes it."""
    words = heading.lstrip("# ").lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
