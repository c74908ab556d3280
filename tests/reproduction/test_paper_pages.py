"""What was measured of the papers: kept whole, compared right, told by the help's pages."""

from __future__ import annotations

import re
from pathlib import Path

from app.help.help_pages import pages_by_key
from tests.reproduction.__main__ import main
from tests.reproduction.paper_pages import (
    BY_PAPER,
    FOLDER,
    MeasuredResult,
    command,
    help_files,
    load_result,
    overview,
    paper_pages,
    repository_page,
    result_tables,
    save_result,
    sentences,
)
from tests.reproduction.tables import JUDGEMENTS, REPRODUCTIONS

ROWS = (
    {"dataset": "a", "grid (paper)": 80.0, "grid": 82.5, "mm (paper)": None, "mm": 81.0, "mm s": 1},
    {"in words": "mm is quick."},
)


def test_what_is_kept_is_read_again(tmp_path):
    found = MeasuredResult("foo-table2", ROWS, 1.5, {"numpy": "2"})
    save_result(found, tmp_path)
    assert load_result("foo-table2", tmp_path) == found
    assert load_result("foo-table1", tmp_path) is None


def test_ours_stand_before_theirs_with_the_difference_and_times_are_left_out():
    (part,) = result_tables(MeasuredResult("foo-table2", ROWS, None, {}))
    assert part.headings == ("dataset", "grid", "mm")
    assert part.rows == (("a", "82.5 / 80 (+2.5)", "81"),)
    assert part.compared
    assert list(sentences(MeasuredResult("foo-table2", ROWS, None, {}))) == ["mm is quick."]


def test_penalties_are_compared_by_their_quotient():
    rows = ({"": "loops", "fold A (paper)": 2.0, "fold A": "3 (limit)"},)
    (part,) = result_tables(MeasuredResult("foo-table3b", rows, None, {}))
    assert part.rows == (("loops", "3 (limit) / 2 (× 1.5)"),)


def test_words_have_no_difference():
    rows = ({"method": "m", "found % (paper)": "stays", "found %": 42.0},)
    (part,) = result_tables(MeasuredResult("brofos-sinc", rows, None, {}))
    assert part.rows == (("m", "42 / stays"),)


def test_ours_may_stand_on_either_side_of_theirs():
    row = {"M": 10, "grid": 41.2, "lead": 4.6, "refit lead": 3.6, "lead (paper)": 6.7}
    (part,) = result_tables(
        MeasuredResult("do-figure2", (row, {**row, "lead (paper)": None}), None, {})
    )
    assert part.headings == ("M", "grid", "lead")
    assert part.rows == (("10", "41.2", "4.6 / 6.7 (-2.1)"), ("10", "41.2", "4.6"))


ROOT = Path(__file__).parents[2]
HELP = ROOT / "resources" / "help"


def test_every_table_has_a_verdict_and_a_page():
    whole = "".join(paper_pages().values())
    for name, entry in REPRODUCTIONS.items():
        assert entry.judgement in JUDGEMENTS
        assert f"{{#{name}}}" in whole
        assert f"    {command(entry)}\n" in whole
        assert entry.claim in overview()


def test_every_figure_that_was_kept_is_on_a_page():
    whole = "".join(paper_pages().values())
    for name in (path.stem for path in FOLDER.glob("*.json")):
        for table in result_tables(load_result(name)):
            for row in table.rows:
                assert f"| {' | '.join(text or '–' for text in row)} |" in whole


def test_the_kept_pages_are_those_of_the_source():
    """What packaging/make_papers.py would write."""
    assert (ROOT / "PAPERS.md").read_text(encoding="utf-8") == repository_page()
    kept = {
        path.relative_to(HELP).as_posix(): path.read_text(encoding="utf-8")
        for path in (HELP / "papers.md", *HELP.glob("papers/*.md"))
    }
    assert kept == help_files()
    assert [key for key, page in pages_by_key().items() if page.parent == "papers"] == [*BY_PAPER]


def test_links_of_the_repositorys_page_lead_somewhere():
    page = repository_page()
    assert not re.search(r"\{#", page)
    anchors = {_anchor(line) for line in page.split("\n") if line.startswith("#")}
    assert set(re.findall(r"\]\(#([\w.-]+)\)", page)) <= anchors


def test_the_command_lists_the_tables_and_says_what_is_wrong(capsys, tmp_path):
    assert main([]) == 0
    assert set(re.findall(r"^  ([a-z]\S+)$", capsys.readouterr().out, re.M)) == set(REPRODUCTIONS)
    missing = str(tmp_path / "nowhere")
    for arguments, sentence in (
        (["foo-tabel1"], "there is no reproduction “foo-tabel1”; did you mean foo-table1"),
        (["foo-table2", "--data", missing], f"--data {missing}"),
    ):
        assert main(arguments) == 2
        assert sentence in capsys.readouterr().err


def _anchor(heading: str) -> str:
    """As GitHub makes it."""
    words = heading.lstrip("# ").lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
