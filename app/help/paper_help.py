"""The papers measured again, as help and repository page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain

from core.reproduction.measured_table import Reproduction
from core.reproduction.outcomes import (
    NOTHING,
    MeasuredResult,
    ResultTable,
    load_result,
    result_tables,
    sentences,
)
from core.reproduction.registry import REPRODUCTIONS
from core.reproduction.verdicts import VERDICTS

# {key of a page: (title, prefix of the names of its tables)}
BY_PAPER = {
    "papers-foo": ("Foo, Do and Ng 2009: penalties by majorization-minimization", "foo-"),
    "papers-do": ("Do, Foo and Ng 2008: penalties by the implicit gradient", "do-"),
    "papers-brofos": ("Brofos 2013: Gaussian processes that explore", "brofos-"),
    "papers-yogatama": ("Yogatama and Mann 2014: learning from earlier datasets", "yogatama-"),
    "papers-mcinerney": ("McInerney 2017: averages of settings (EB-Hyp)", "mcinerney-"),
    "papers-averages": ("Averages of settings on tables", "averages-"),
}
_HEADING = re.compile(r"^#+ (.+?) \{#([\w-]+)\}$", re.M)
INTRODUCTION = (
    "# The papers, measured again\n\n"
    "The strategies come from five papers. Every table and figure of theirs that can be measured "
    "was measured with this program: all seeds, all folds, on every file of theirs that could be "
    "had; where something was not waited for, its table says so. Where a figure stands beside one "
    "of the paper, it is read “ours / the paper’s (difference)”; a × is a quotient."
)


def paper_pages() -> dict[str, str]:
    """{key: Markdown} of the page of every paper."""
    pages = {}
    for key, (title, beginning) in BY_PAPER.items():
        sections = chain.from_iterable(map(_table_section, _reproductions_of(beginning)))
        pages[key] = "\n\n".join([f"# {title}", *sections]) + "\n"
    return pages


def overview() -> str:
    """Markdown of the page of all claims."""
    paragraphs = [INTRODUCTION]
    for key, (title, beginning) in BY_PAPER.items():
        lines = [f"## [{title}](#{key})", "", "| | The claim | Here |", "| --- | --- | --- |"]
        for reproduction in _reproductions_of(beginning):
            verdict = VERDICTS[reproduction.name]
            verdict_text = f"**{verdict.judgement}**. {verdict.finding}"
            link = f"[{_short_title(reproduction)}](#{reproduction.name})"
            lines.append(f"| {link} | {verdict.claim} | {verdict_text} |")
        paragraphs.append("\n".join(lines))
    return "\n\n".join(paragraphs) + "\n"


@cache
def repository_page() -> str:
    """All pages as one Markdown file."""
    deeper = [re.sub(r"^#", "##", page, flags=re.M) for page in paper_pages().values()]
    markdown = "\n".join([overview(), *deeper])
    anchors = {key: _heading_anchor(words) for words, key in _HEADING.findall(markdown)}
    anchors |= {key: _heading_anchor(title) for key, (title, _) in BY_PAPER.items()}
    # The overview's headings are links to the papers, whose own headings are the same words.
    markdown = re.sub(r"^## \[(.+?)\]\(#[\w-]+\)$", r"**\1**", markdown, flags=re.M)
    markdown = re.sub(r"\]\(#([\w-]+)\)", lambda link: f"](#{anchors[link[1]]})", markdown)
    return re.sub(r" \{#[\w-]+\}", "", markdown)


def _heading_anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _reproductions_of(beginning: str) -> list[Reproduction]:
    return [entry for name, entry in REPRODUCTIONS.items() if name.startswith(beginning)]


def _short_title(reproduction: Reproduction) -> str:
    """“table 1” of “Foo 2009, table 1: linear regression …”."""
    match = re.search(r", ((?:table|figure) \w+):", reproduction.title)
    return match[1] if match else reproduction.name


def _table_section(reproduction: Reproduction) -> Iterator[str]:
    verdict, measurement = VERDICTS[reproduction.name], load_result(reproduction.name)
    yield f"## {reproduction.title} {{#{reproduction.name}}}"
    yield f"{verdict.claim} Here it **{verdict.judgement}**. {verdict.finding}"
    yield f"    {command(reproduction)}"
    if measurement is not None:
        yield from (_markdown(table) for table in result_tables(measurement))
        if remarks := [f"- {sentence}" for sentence in sentences(measurement)]:
            yield "\n".join(remarks)
    if verdict.causes:
        yield "**Why figures differ.**"
        yield "\n".join(f"- {cause}" for cause in verdict.causes)
    if measurement is not None:
        yield _measurement_text(measurement)


def command(reproduction: Reproduction) -> str:
    """The command that measures a table again."""
    data = " --data DIR" if reproduction.takes_data else ""
    return f"tunescope reproduce {reproduction.name}{data}"


def _measurement_text(measurement: MeasuredResult) -> str:
    took = f" in {measurement.seconds:,.0f} s" if measurement.seconds else ""
    with_what = ", ".join(f"{name} {version}" for name, version in measurement.versions.items())
    return f"Measured{took} with {with_what}."


def _markdown(table: ResultTable) -> str:
    lines = ["| " + " | ".join(name or " " for name in table.headings) + " |"]
    lines.append("|" + " --- |" * len(table.headings))
    for row in table.rows:
        lines.append("| " + " | ".join(text or NOTHING for text in row) + " |")
    return "\n".join(lines)
