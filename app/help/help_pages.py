"""The pages of the help, written and generated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from app.help.glossary import entries
from app.help.model_help import model_page
from app.help.paper_help import overview, paper_pages
from app.help.score_help import score_descriptions
from app.help.strategy_help import strategy_page
from core.estimators.registry import MODELS
from core.tuning.strategies.registry import STRATEGIES

FOLDER = Path(__file__).parents[2] / "resources" / "help"
# In the order of the list; generated pages follow their topic.
TOPICS = (
    *("start", "data", "groups", "model", "strategy", "tune", "results", "scores", "export"),
    *("history", "cluster", "papers", "words", "keyboard"),
)
GENERATED_TOPICS = ("scores", "papers", "words")
_ANCHOR = re.compile(r"\{#([\w.-]+)\}")
_LINK = re.compile(r"\]\(#([\w.-]+)\)")


@dataclass(frozen=True)
class HelpPage:
    """One page."""

    key: str  # its anchor
    text: str  # Markdown; the first line is the title
    parent: str = ""  # key of the page above it in the list

    @property
    def title(self) -> str:
        """The first line."""
        return self.text.split("\n", 1)[0].removeprefix("# ")

    @property
    def anchors(self) -> tuple[str, ...]:
        """Anchors on the page."""
        return (self.key, *_ANCHOR.findall(self.text))

    @property
    def links(self) -> tuple[str, ...]:
        """Targets of its links."""
        return tuple(_LINK.findall(self.text))


@cache
def pages_by_key() -> dict[str, HelpPage]:
    """Every page by its key, in the order of the list."""
    return {page.key: page for page in _all_pages()}


def _all_pages() -> Iterator[HelpPage]:
    for topic in _topic_keys():
        yield HelpPage(topic, _topic_text(topic))
        if topic == "model":
            for model in MODELS.values():
                yield HelpPage(f"model-{model.name}", model_page(model), "model")
        if topic == "strategy":
            for strategy in STRATEGIES.values():
                yield HelpPage(f"strategy-{strategy.name}", strategy_page(strategy), "strategy")
        if topic == "papers":
            for key, text in paper_pages().items():
                yield HelpPage(key, text, "papers")


def _topic_keys() -> list[str]:
    written = sorted(path.stem for path in FOLDER.glob("*.md"))
    return [*TOPICS, *(topic for topic in written if topic not in TOPICS)]


def _topic_text(topic: str) -> str:
    if topic == "scores":
        return _scores_page()
    if topic == "words":
        return _glossary_page()
    if topic == "papers":
        return overview()
    text = (FOLDER / f"{topic}.md").read_text(encoding="utf-8")
    if topic == "model":
        listed = [(f"model-{model.name}", model.title, model.good_for) for model in MODELS.values()]
    elif topic == "strategy":
        listed = [(f"strategy-{s.name}", s.title, s.does) for s in STRATEGIES.values()]
    else:
        return text
    lines = (f"\n- [{title}](#{key}). {description}" for key, title, description in listed)
    return "".join([text, *lines, "\n"])


@cache
def _page_key_by_anchor() -> dict[str, str]:
    return {anchor: page.key for page in pages_by_key().values() for anchor in page.anchors}


def page_of(anchor: str) -> HelpPage | None:
    """The page of an anchor; None without one."""
    return pages_by_key().get(_page_key_by_anchor().get(anchor, ""))


def _scores_page() -> str:
    paragraphs = [
        "# Scores",
        "What a model is judged by. The one that is recommended is chosen for you; under Advanced "
        "in the [Strategy](#strategy) step you can take another.",
    ]
    for score in score_descriptions():
        paragraphs += [
            f"## {score.title} {{#{score.key}}}",
            f"{score.words}\n\nOn the command line: `--option metric={score.name}`.",
        ]
    return "\n\n".join(paragraphs) + "\n"


def _glossary_page() -> str:
    paragraphs = [
        "# Words",
        "Every term that the window uses. In the window, point at a word, or move to it with the "
        "keyboard and press F1: the same text shows beside it.",
    ]
    for entry in entries():
        if entry.key.startswith("word-"):
            paragraphs += [f"## {entry.title} {{#{entry.key}}}", entry.words]
        else:  # its anchor is on the page of scores
            paragraphs += [f"## {entry.title}", f"{entry.words} [As a score](#{entry.key})."]
    return "\n\n".join(paragraphs) + "\n"
