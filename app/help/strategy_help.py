"""A strategy's page in the help."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from app.help.view_examples import PAIRS, Example
from core.tuning.patience import stop_rule_text
from core.tuning.plan import DataPlan, Plan
from core.tuning.strategies.strategy import RunContext

if TYPE_CHECKING:
    from core.options import Option
    from core.tuning.strategies.strategy import Strategy

PICTURES = Path(__file__).parents[2] / "resources" / "help" / "pictures"
# {source of a strategy: reference}
PAPERS = {
    "Foo, Do and Ng 2009": "C.-S. Foo, C. B. Do and A. Y. Ng: A majorization-minimization "
    "algorithm for (multiple) hyperparameter learning. ICML 2009.",
    "MacKay 1992": "D. J. C. MacKay: Bayesian interpolation. Neural Computation 4, 1992.",
    "Rad and Maleki 2020": "K. Rahnama Rad and A. Maleki: A scalable estimate of the out-of-sample "
    "prediction error via approximate leave-one-out cross-validation. Journal of the Royal "
    "Statistical Society B 82, 2020.",
    "Do, Foo and Ng 2008": "C. B. Do, C.-S. Foo and A. Y. Ng: Efficient multiple hyperparameter "
    "learning for log-linear models. NIPS 2007 (printed 2008).",
    "Brofos 2013": "J. Brofos: Gaussian process optimization. 2013.",
    "McInerney 2017": "J. McInerney: An empirical Bayes approach to optimizing machine learning "
    "algorithms. NIPS 2017.",
    "Yogatama and Mann 2014": "D. Yogatama and G. Mann: Efficient transfer learning method for "
    "automatic hyperparameter tuning. AISTATS 2014.",
    "Bergstra and Bengio 2012": "J. Bergstra and Y. Bengio: Random search for hyper-parameter "
    "optimization. Journal of Machine Learning Research 13, 2012.",
    "Bergstra et al. 2011": "J. Bergstra, R. Bardenet, Y. Bengio and B. Kégl: Algorithms for "
    "hyper-parameter optimization. NIPS 2011. The program is Optuna's.",
    "Hansen and Ostermeier 2001": "N. Hansen and A. Ostermeier: Completely derandomized "
    "self-adaptation in evolution strategies. Evolutionary Computation 9, 2001. The program is "
    "that of cmaes, by way of Optuna.",
    "Bardenet et al. 2013": "R. Bardenet, M. Brendel, B. Kégl and M. Sebag: Collaborative "
    "hyperparameter tuning. ICML 2013.",
}


def strategy_page(strategy: Strategy) -> str:
    """The page as Markdown."""
    pair = PAIRS.get(strategy.name)
    paragraphs = [f"# {strategy.title}", strategy.does]
    if works := strategy.works(RunContext(tried=10)):
        paragraphs.append(f"**How it works.** {works}")
    if pair:
        paragraphs.append(f"**When to take it.** {pair.take}")
    paragraphs.append(f"**What it costs.** {strategy.costs}")
    if strategy.costs_structured:
        paragraphs.append(f"**For sequences and molecules.** {strategy.costs_structured}")
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
def _pictured_views() -> dict[str, list[tuple[str, str]]]:
    path = PICTURES / "views.json"
    read = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {name: [(title, question) for title, question in views] for name, views in read.items()}


def views_of(strategy: str) -> list[tuple[str, str]]:
    """Title and question of each view of the strategy."""
    return _pictured_views().get(strategy, [])


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
        lines.append(f"| {about} | {_values_text(option)} | {_default_text(option)} |")
    return "\n".join(lines)


def _values_text(option: Option) -> str:
    if option.kind == "choice":
        return ", ".join(option.choices)
    return "yes, no" if option.kind == "bool" else option.range_text()


def _default_text(option: Option) -> str:
    if option.kind == "bool":
        return "yes" if option.default else "no"
    value = option.default
    value_text = f"{value:g}" if isinstance(value, float) and math.isfinite(value) else str(value)
    lowest = option.lowest_label and value == option.low
    return f"{option.lowest_label} ({value_text})" if lowest else value_text


def _source_text(source: str) -> str:
    if not source:
        return "No paper: it is Tunescope's own."
    papers = [PAPERS.get(name, name) for name in source.split("; ")]
    return "\n".join(f"- {paper}" for paper in papers)
