"""The pages of the help, written and generated."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from app.help.glossary import FOLDER, entries, read_help, score_entries
from core.estimators.model import Model
from core.estimators.optional_parts import OPTIONAL_DEPENDENCIES
from core.estimators.registry import MODELS
from core.options import Option
from core.space import Axis
from core.tuning.patience import stop_rule_text
from core.tuning.plan import DataPlan, Plan
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.strategies.strategy import RunContext, Strategy

PICTURES = FOLDER / "pictures"
# In the order of the list; generated pages follow their topic.
TOPICS = (
    *("start", "data", "groups", "model", "strategy", "tune", "results", "scores", "export"),
    *("history", "cluster", "papers", "words", "keyboard"),
)
GENERATED_TOPICS = ("scores", "words")
_ANCHOR = re.compile(r"\{#([\w.-]+)\}")
_LINK = re.compile(r"\]\(#([\w.-]+)\)")
_PAPER_LINK = re.compile(r"\]\(#(papers-\w+)\)")


@dataclass(frozen=True)
class HelpPage:
    """One page."""

    key: str  # its anchor
    text: str  # Markdown; the first line is the title
    parent: str = ""  # key of the page above it in the list

    @property
    def title(self) -> str:
        return self.text.split("\n", 1)[0].removeprefix("# ")

    @property
    def anchors(self) -> tuple[str, ...]:
        return (self.key, *_ANCHOR.findall(self.text))

    @property
    def linked_anchors(self) -> tuple[str, ...]:
        return tuple(_LINK.findall(self.text))


@dataclass(frozen=True)
class Example:
    """One run of a strategy and its picture."""

    run: str  # arguments of `tunescope tune`
    seen: str
    cure: str = ""  # "" where all is well


@dataclass(frozen=True)
class ExamplePair:
    """Two runs of a strategy, and when to use it."""

    take: str
    well: Example
    badly: Example


@cache
def pages_by_key() -> dict[str, HelpPage]:
    """Every page by its key, in the order of the list."""
    return {page.key: page for page in _all_pages()}


def _all_pages() -> Iterator[HelpPage]:
    written = sorted(path.stem for path in FOLDER.glob("*.md"))
    # A page that nobody has put in order yet is at the end, and can be read.
    for topic in dict.fromkeys((*TOPICS, *written)):
        yield HelpPage(topic, _topic_text(topic))
        if topic == "model":
            for model in MODELS.values():
                yield HelpPage(f"model-{model.name}", model_page(model), "model")
        if topic == "strategy":
            for strategy in STRATEGIES.values():
                yield HelpPage(f"strategy-{strategy.name}", strategy_page(strategy), "strategy")
        if topic == "papers":
            for key in dict.fromkeys(_PAPER_LINK.findall(_topic_text("papers"))):
                text = (FOLDER / "papers" / f"{key}.md").read_text(encoding="utf-8")
                yield HelpPage(key, text, "papers")


def _topic_text(topic: str) -> str:
    if topic == "scores":
        return _scores_page()
    if topic == "words":
        return _glossary_page()
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
    for score in score_entries():
        option = f"On the command line: `--option metric={score.key.removeprefix('score-')}`."
        paragraphs += [f"## {score.title} {{#{score.key}}}", f"{score.words}\n\n{option}"]
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
        # A score has its anchor on the page of scores.
        else:
            paragraphs += [f"## {entry.title}", f"{entry.words} [As a score](#{entry.key})."]
    return "\n\n".join(paragraphs) + "\n"


def model_page(model: Model) -> str:
    """The page as Markdown."""
    paragraphs = [f"# {model.title}", model.good_for, f"**What it costs.** {model.cost}"]
    predicted = ", ".join(task.prediction_text for task in model.known_tasks)
    paragraphs.append(f"**What it predicts.** {predicted[:1].upper()}{predicted[1:]}.")
    if model.extra:
        dependency = OPTIONAL_DEPENDENCIES[model.extra]
        needs = f"{dependency.modules[0]}; install it with `{dependency.command}`."
        paragraphs.append(f"**What it needs.** {needs}")
    if model.loss:
        learned = "**Its penalties can be learned** without trials"
        paragraphs.append(f"{learned}: see [Strategies](#strategy).")
    paragraphs += _settings_table(model)
    paragraphs.append(f"On the command line: `--model {model.name}`.")
    return "\n\n".join(paragraphs) + "\n"


def _settings_table(model: Model) -> list[str]:
    rows: dict[tuple[str, str], dict[str, list[str]]] = {}
    for task in model.known_tasks:
        for axis in model.space(task):
            # Tasks with the same range share a row.
            cells = f"{axis_range_text(axis)} | {_value_text(axis.default)}"
            rows.setdefault((axis.label, axis.name), {}).setdefault(cells, []).append(task)
    if not rows or model.name == "auto":
        return []
    lines = ["| Setting | Range | Default |", "| --- | --- | --- |"]
    for (label, name), tasks_by_range in rows.items():
        for words, tasks in tasks_by_range.items():
            task_list = "" if len(tasks) == len(model.known_tasks) else f" ({', '.join(tasks)})"
            lines.append(f"| {label} (`{name}`){task_list} | {words} |")
    return ["## What is tuned", "\n".join(lines)]


def axis_range_text(axis: Axis) -> str:
    """The values that a setting may have."""
    if axis.kind == "choice":
        return ", ".join(map(_value_text, axis.choices))
    return f"{axis.low:g} to {axis.high:g}{', on a log scale' if axis.log else ''}"


def _value_text(value: object) -> str:
    if value is None:
        return "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def strategy_page(strategy: Strategy) -> str:
    """The page as Markdown."""
    pair = example_pairs().get(strategy.name)
    paragraphs = [f"# {strategy.title}", strategy.does]
    if works := strategy.works(RunContext(tried=10)):
        paragraphs.append(f"**How it works.** {works}")
    if pair:
        paragraphs.append(f"**When to take it.** {pair.take}")
    paragraphs.append(f"**What it costs.** {strategy.costs}")
    if strategy.costs_structured:
        paragraphs.append(f"**For sequences and molecules.** {strategy.costs_structured}")
    # Several models are bounded by minutes, not by trials.
    if strategy.kind == "trials" and not strategy.several:
        paragraphs.append(f"Trials where nobody says how many: {strategy.default_trials}.")
    if strategy.kind == "trials":
        paragraphs.append(stop_rule_text(Plan(DataPlan(""), "", strategy.name)))
    if pair:
        paragraphs += ["## When it goes well", *_example(strategy, "well", pair.well)]
        paragraphs += ["## When it goes badly", *_example(strategy, "badly", pair.badly)]
    paragraphs += ["## What you see", strategy.shows]
    if views := views_of(strategy.name):
        paragraphs.append("\n".join(f"- **{title}.** {question}" for title, question in views))
    paragraphs += ["## Options", _options_table(strategy.options)]
    paragraphs.append(f"On the command line: `--strategy {strategy.name}`.")
    paragraphs += ["## Where it comes from", _source_text(strategy.source)]
    return "\n\n".join(paragraphs) + "\n"


@cache
def example_pairs() -> dict[str, ExamplePair]:
    """The two runs of each strategy of ours."""
    return {
        name: ExamplePair(plain["take"], Example(**plain["well"]), Example(**plain["badly"]))
        for name, plain in read_help("strategy_examples.json").items()
    }


def views_of(strategy: str) -> list[tuple[str, str]]:
    """Title and question of each view that the strategy's pictures show."""
    views = read_help("pictures/views.json").get(strategy, [])
    return [(title, question) for title, question in views]


def _example(strategy: Strategy, outcome: str, example: Example) -> list[str]:
    picture = f"![{strategy.title}, {outcome}](pictures/{strategy.name}-{outcome}.png)"
    paragraphs = [picture, example.seen]
    if example.cure:
        paragraphs.append(f"**What to do.** {example.cure}")
    paragraphs.append(f"To see it yourself: `tunescope tune {example.run}`")
    return paragraphs


def _options_table(options: tuple[Option, ...]) -> str:
    if not options:
        return "There is nothing to set."
    lines = ["| Option | Values | Default |", "| --- | --- | --- |"]
    for option in options:
        about = f"**{option.label}** (`{option.name}`). {option.help}"
        lines.append(f"| {about} | {option_values_text(option)} | {option_default_text(option)} |")
    return "\n".join(lines)


def option_values_text(option: Option) -> str:
    """The values that an option may have."""
    if option.kind == "choice":
        return ", ".join(option.choices)
    return "yes, no" if option.kind == "bool" else option.range_text()


def option_default_text(option: Option) -> str:
    """Its default, behind what that means where it has a name."""
    if option.kind == "bool":
        return "yes" if option.default else "no"
    value = option.default
    value_text = f"{value:g}" if isinstance(value, float) and math.isfinite(value) else str(value)
    lowest = option.lowest_label and value == option.low
    return f"{option.lowest_label} ({value_text})" if lowest else value_text


def _source_text(source: str) -> str:
    if not source:
        return "No paper: it is Tunescope's own."
    papers = [read_help("references.json").get(name, name) for name in source.split("; ")]
    return "\n".join(f"- {paper}" for paper in papers)
