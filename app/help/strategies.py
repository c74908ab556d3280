"""A strategy's page: what the registry says of it, its views well and badly, its options."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from app.help.examples import PAIRS, Example
from core.tuning.patience import in_words
from core.tuning.plan import DataPlan, Plan
from core.tuning.strategies.strategy import Moment

if TYPE_CHECKING:
    from core.options import Option
    from core.tuning.strategies.strategy import Strategy

PICTURES = Path(__file__).parents[2] / "resources" / "help" / "pictures"
# {what a strategy's source says: where to read it}
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
    parts = [f"# {strategy.title}", strategy.does]
    if works := strategy.works(Moment(tried=10)):
        parts.append(f"**How it works.** {works}")
    if pair:
        parts.append(f"**When to take it.** {pair.take}")
    parts.append(f"**What it costs.** {strategy.costs}")
    if strategy.costs_structured:
        parts.append(f"**For sequences and molecules.** {strategy.costs_structured}")
    if strategy.kind == "trials" and not strategy.several:
        parts.append(f"Trials where nobody says how many: {strategy.default_trials}.")
    if strategy.kind == "trials":
        parts.append(in_words(Plan(DataPlan(""), "", strategy.name)))
    if pair:
        parts += ["## When it goes well", *_example(strategy, "well", pair.well)]
        parts += ["## When it goes badly", *_example(strategy, "badly", pair.badly)]
    parts += ["## What you see", strategy.shows]
    if views := views_of(strategy.name):
        parts.append("\n".join(f"- **{title}.** {question}" for title, question in views))
    parts += ["## Options", _options(strategy.options)]
    parts.append(f"On the command line: `--strategy {strategy.name}`.")
    parts += ["## Where it comes from", _source(strategy.source)]
    return "\n\n".join(parts) + "\n"


@cache
def _views() -> dict[str, list[tuple[str, str]]]:
    path = PICTURES / "views.json"
    read = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {name: [(title, question) for title, question in views] for name, views in read.items()}


def views_of(strategy: str) -> list[tuple[str, str]]:
    """Title and question of each view in the strategy's pictures; [] for an extension's."""
    return _views().get(strategy, [])


def _example(strategy: Strategy, how: str, example: Example) -> list[str]:
    said = [f"![{strategy.title}, {how}](pictures/{strategy.name}-{how}.png)", example.seen]
    if example.cure:
        said.append(f"**What to do.** {example.cure}")
    said.append(f"To see it yourself: `tunescope tune {example.run}`")
    return said


def _options(options: tuple[Option, ...]) -> str:
    if not options:
        return "There is nothing to set."
    lines = ["| Option | Values | Default |", "| --- | --- | --- |"]
    for one in options:
        about = f"**{one.label}** (`{one.name}`). {one.help}"
        lines.append(f"| {about} | {_values(one)} | {_default(one)} |")
    return "\n".join(lines)


def _values(option: Option) -> str:
    if option.kind == "choice":
        return ", ".join(option.choices)
    return "yes, no" if option.kind == "bool" else option.range_in_words()


def _default(option: Option) -> str:
    if option.kind == "bool":
        return "yes" if option.default else "no"
    value = option.default
    said = f"{value:g}" if isinstance(value, float) and math.isfinite(value) else str(value)
    lowest = option.lowest_label and value == option.low
    return f"{option.lowest_label} ({said})" if lowest else said


def _source(source: str) -> str:
    if not source:
        return "No paper: it is Tunescope's own."
    papers = [PAPERS.get(name, name) for name in source.split("; ")]
    return "\n".join(f"- {paper}" for paper in papers)
