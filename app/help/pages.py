"""The pages of the help: the topics that are written, and those made from descriptions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from app.help.glossary import entries
from app.help.models import model_page
from app.help.papers import overview, paper_pages
from app.help.scores import scores
from app.help.strategies import strategy_page
from core.estimators.registry import MODELS
from core.tuning.strategies.registry import STRATEGIES

FOLDER = Path(__file__).parents[2] / "resources" / "help"
# In the order of the list; pages made from descriptions follow the topic that they belong to.
TOPICS = (
    *("start", "data", "groups", "model", "strategy", "tune", "results", "scores", "export"),
    *("history", "cluster", "papers", "words", "keyboard"),
)
MADE = ("scores", "papers", "words")  # of the topics
_PLACE = re.compile(r"\{#([\w.-]+)\}")
_LINK = re.compile(r"\]\(#([\w.-]+)\)")


@dataclass(frozen=True)
class Page:
    """One page.

    Attributes:
        key: its place in the help, after “#”.
        text: Markdown; its first line is the title.
        parent: the key of the page under which it stands in the list; "" for none.
    """

    key: str
    text: str
    parent: str = ""

    @property
    def title(self) -> str:
        """The first line."""
        return self.text.split("\n", 1)[0].removeprefix("# ")

    @property
    def places(self) -> tuple[str, ...]:
        """Where links can lead on it: the page itself and its marked headings."""
        return (self.key, *_PLACE.findall(self.text))

    @property
    def links(self) -> tuple[str, ...]:
        """Where its links lead."""
        return tuple(_LINK.findall(self.text))


@cache
def pages() -> dict[str, Page]:
    """Every page by its key, in the order of the list."""
    return {page.key: page for page in _all()}


def _all() -> Iterator[Page]:
    for topic in _topics():
        yield Page(topic, _text(topic))
        if topic == "model":
            for model in MODELS.values():
                yield Page(f"model-{model.name}", model_page(model), "model")
        if topic == "strategy":
            for strategy in STRATEGIES.values():
                yield Page(f"strategy-{strategy.name}", strategy_page(strategy), "strategy")
        if topic == "papers":
            for key, text in paper_pages().items():
                yield Page(key, text, "papers")


def _topics() -> list[str]:
    """Those of the fixed order, then whatever else is written."""
    written = sorted(path.stem for path in FOLDER.glob("*.md"))
    return [*TOPICS, *(topic for topic in written if topic not in TOPICS)]


def _text(topic: str) -> str:
    if topic == "scores":
        return _scores()
    if topic == "words":
        return _words()
    if topic == "papers":
        return overview()
    text = (FOLDER / f"{topic}.md").read_text(encoding="utf-8")
    if topic == "model":
        listed = [(f"model-{one.name}", one.title, one.good_for) for one in MODELS.values()]
    elif topic == "strategy":
        listed = [(f"strategy-{one.name}", one.title, one.does) for one in STRATEGIES.values()]
    else:
        return text
    return text + "".join(f"\n- [{title}](#{key}). {said}" for key, title, said in listed) + "\n"


@cache
def _owners() -> dict[str, str]:
    return {place: page.key for page in pages().values() for place in page.places}


def page_of(place: str) -> Page | None:
    """The page on which a place is; None where there is no such place."""
    return pages().get(_owners().get(place, ""))


def _scores() -> str:
    parts = [
        "# Scores",
        "What a model is judged by. The one that is recommended is chosen for you; under Advanced "
        "in the [Strategy](#strategy) step you can take another.",
    ]
    for one in scores():
        parts += [
            f"## {one.title} {{#{one.key}}}",
            f"{one.words}\n\nOn the command line: `--option metric={one.name}`.",
        ]
    return "\n\n".join(parts) + "\n"


def _words() -> str:
    parts = [
        "# Words",
        "Every term that the window uses. In the window, point at a word, or move to it with the "
        "keyboard and press F1: the same text shows beside it.",
    ]
    for entry in entries():
        heading = entry.title
        if entry.key.startswith("word-"):
            parts += [f"## {heading} {{#{entry.key}}}", entry.words]
        else:  # it has its place among the scores
            parts += [f"## {heading}", f"{entry.words} [As a score](#{entry.key})."]
    return "\n\n".join(parts) + "\n"
