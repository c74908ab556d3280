"""The papers measured again: theirs beside ours, in the help and as a page of the repository."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from core.reproduction.outcomes import NOTHING, Outcome, Part, outcome, parts, sentences
from core.reproduction.registry import REPRODUCTIONS
from core.reproduction.table import Reproduction
from core.reproduction.verdicts import VERDICTS

# {key of a page: (its title, how the names of its tables begin)}
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
    """Markdown of the page of every paper, by its key."""
    return {
        key: "\n\n".join([f"# {title}", *_tables(beginning)]) + "\n"
        for key, (title, beginning) in BY_PAPER.items()
    }


def overview() -> str:
    """Markdown of the page above them: every claim, and whether it holds here."""
    parts = [INTRODUCTION]
    for key, (title, beginning) in BY_PAPER.items():
        lines = [f"## [{title}](#{key})", "", "| | The claim | Here |", "| --- | --- | --- |"]
        for one in _of(beginning):
            verdict = VERDICTS[one.name]
            here = f"**{verdict.found}**. {verdict.here}"
            lines.append(f"| [{_short(one)}](#{one.name}) | {verdict.claim} | {here} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


@cache
def repository_page() -> str:
    """All of them as one page, for those who read the repository."""
    deeper = [re.sub(r"^#", "##", page, flags=re.M) for page in paper_pages().values()]
    whole = "\n".join([overview(), *deeper])
    places = {place: _anchor(words) for words, place in _HEADING.findall(whole)}
    places |= {key: _anchor(title) for key, (title, _) in BY_PAPER.items()}
    # The overview's headings are links to the papers, whose own headings are the same words.
    whole = re.sub(r"^## \[(.+?)\]\(#[\w-]+\)$", r"**\1**", whole, flags=re.M)
    whole = re.sub(r"\]\(#([\w-]+)\)", lambda link: f"](#{places[link[1]]})", whole)
    return re.sub(r" \{#[\w-]+\}", "", whole)


def _anchor(heading: str) -> str:
    """The place of a heading in a rendered Markdown file."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _of(beginning: str) -> list[Reproduction]:
    return [one for name, one in REPRODUCTIONS.items() if name.startswith(beginning)]


def _short(one: Reproduction) -> str:
    """“table 1” of “Foo 2009, table 1: linear regression …”; the name where no table is told."""
    told = re.search(r", ((?:table|figure) \w+):", one.title)
    return told[1] if told else one.name


def _tables(beginning: str) -> Iterator[str]:
    for one in _of(beginning):
        yield from _table(one)


def _table(one: Reproduction) -> Iterator[str]:
    verdict, found = VERDICTS[one.name], outcome(one.name)
    yield f"## {one.title} {{#{one.name}}}"
    yield f"{verdict.claim} Here it **{verdict.found}**. {verdict.here}"
    yield f"    {command(one)}"
    if found is not None:
        yield from (_markdown(part) for part in parts(found))
        if told := [f"- {said}" for said in sentences(found)]:
            yield "\n".join(told)
    if verdict.causes:
        yield "**Why figures differ.**"
        yield "\n".join(f"- {cause}" for cause in verdict.causes)
    if found is not None:
        yield _measured(found)


def command(one: Reproduction) -> str:
    """What makes a table anew."""
    data = " --data DIR" if one.takes_data else ""
    return f"tunescope reproduce {one.name}{data}"


def _measured(found: Outcome) -> str:
    took = f" in {found.seconds:,.0f} s" if found.seconds else ""
    with_what = ", ".join(f"{name} {version}" for name, version in found.versions.items())
    return f"Measured{took} with {with_what}."


def _markdown(part: Part) -> str:
    lines = ["| " + " | ".join(name or " " for name in part.headings) + " |"]
    lines.append("|" + " --- |" * len(part.headings))
    for row in part.rows:
        lines.append("| " + " | ".join(text or NOTHING for text in row) + " |")
    return "\n".join(lines)
