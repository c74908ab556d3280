"""Tables 2 and 3 of McInerney 2017, and its figures 1 and 2 as one HTML page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np
import optuna
from optuna.trial import create_trial

from core.export.report.figure_svg import figure_svg
from core.export.report.html import paragraphs, section_card, style_sheet
from core.figures.figure import Dots, Figure, FigureAxis, columns_table, range_of
from core.figures.scales import Scale
from core.gp.evaluations import SurrogateImage
from core.gp.evaluator import surface
from core.samplers.averaging import average_log_densities, best_tenth, rank_trials
from core.samplers.bayes import EbHypSampler
from core.samplers.gp_options import EbHypOptions
from core.samplers.search_space import distributions
from core.wording import format_number
from tests.reproduction import kept_work
from tests.reproduction.mcinerney_models import BOTH, LABELS, TOKENS, faces_problem, topics_problem
from tests.reproduction.mcinerney_searches import (
    BAYES,
    EB_HYP,
    RANDOM,
    Runs,
    SearchProblem,
    Trials,
    run_searches,
    scores_by_trial,
    searches,
    test_log_densities,
)
from tests.reproduction.tables import SENTENCE, Cells, paired_difference, printed_figures

Rows = Iterator[Cells | str]
Key = tuple[str, bool, str]  # method, whether with validation, "best" or "average"
BEST, AVERAGE = "best", "average"
PRINTED: tuple[Key, ...] = (
    (BAYES, True, BEST),
    (BAYES, False, BEST),
    (EB_HYP, True, AVERAGE),
    (EB_HYP, False, AVERAGE),
    (RANDOM, True, BEST),
    (RANDOM, False, BEST),
)
# The averaging by itself: EB-Hyp's single best, and averages over the other searches' trials.
BEYOND: tuple[Key, ...] = tuple(
    (method, validated, AVERAGE if rule == BEST else BEST) for method, validated, rule in PRINTED
)
REFERENCE: Key = (BAYES, True, BEST)
OURS: Key = (EB_HYP, False, AVERAGE)


@dataclass(frozen=True)
class TableSize:
    trials: int  # of every search
    seeds: int
    data: int  # documents, or points a side that become one; 0 for all
    effort: int  # passes or epochs of a fit


TOPICS, QUICK_TOPICS = TableSize(30, 5, 0, 3), TableSize(20, 2, 1500, 2)
FACES, QUICK_FACES = TableSize(30, 5, 0, 15), TableSize(20, 2, 3, 15)


def table2_rows(folder: Path | None, quick: bool) -> Rows:
    """Topics of 20 Newsgroups, or of drawn documents."""
    size = QUICK_TOPICS if quick else TOPICS
    problem = topics_problem(folder, size.data, size.effort)
    yield from _measured_rows(problem, size, (TOKENS,), "mcinerney-table2")
    yield {SENTENCE: f"Every fit goes {size.effort} times through its documents."}


def table3_rows(folder: Path | None, quick: bool) -> Rows:
    """Deep latent Gaussian models of faces, or of drawn pictures."""
    size = QUICK_FACES if quick else FACES
    problem = faces_problem(folder, size.data, size.effort)
    yield from _measured_rows(problem, size, (BOTH, LABELS), "mcinerney-table3")
    points = f"means of {size.data} × {size.data} points" if size.data else "all points"
    yield {SENTENCE: f"Every fit goes {size.effort} times through its pictures, {points}."}


def _measured_rows(
    problem: SearchProblem, size: TableSize, predicted: Sequence[str], table: str
) -> Rows:
    all_searches = searches(problem, size.trials, range(size.seeds))
    runs = yield from run_searches(all_searches)
    for target in predicted:
        log_likelihoods = predictions(runs, range(size.seeds), target)
        paper = printed_figures(table) if target == predicted[0] else {}
        yield from log_likelihood_rows(log_likelihoods, target, paper)
        for sentence in difference_sentences(log_likelihoods, target):
            yield {SENTENCE: sentence}
    page = kept_work.kept_folder() / f"{problem.checkpoint_name}.html"
    page.write_text(figures_page(problem, runs, predicted[0]), encoding="utf-8")
    yield {SENTENCE: f"Figures 1 and 2: {page}"}


Predicted = dict[Key, list[float]]  # log predictive likelihoods in nats, one a seed


def predictions(runs: Runs, seeds: Sequence[int], target: str) -> Predicted:
    """Log predictive likelihoods by method; nan without a fitted trial."""
    log_likelihoods: Predicted = {key: [] for key in (*PRINTED, *BEYOND)}
    for method, validated, rule in log_likelihoods:
        for seed in seeds:
            trials = runs[method, validated, seed]
            chosen = best_tenth(scores_by_trial(trials), maximize=True)
            chosen = chosen[:1] if rule == BEST else chosen
            value = math.nan
            if chosen:
                densities = test_log_densities(trials, chosen, target)
                equal = np.full(len(chosen), 1.0 / len(chosen))
                value = float(average_log_densities(densities, equal).sum())
            log_likelihoods[method, validated, rule].append(value)
    return log_likelihoods


def percent(value: float, reference: float) -> float:
    return 100.0 * (value - reference) / abs(reference)


def log_likelihood_rows(
    log_likelihoods: Predicted, target: str, printed: Mapping[str, Mapping[str, list[float]]]
) -> Iterator[Cells]:
    """A row a method: the paper's, then ours alone."""
    reference = log_likelihoods[REFERENCE]
    for key in (*PRINTED, *BEYOND):
        method, validated, rule = key
        values = np.array(log_likelihoods[key])
        better = [percent(v, r) for v, r in zip(values, reference, strict=True)]
        mode = "with" if validated else "without"
        theirs = printed.get(method, {}).get(mode) if key in PRINTED else None
        total = f"log lik., {target}"
        yield {
            "method": method,
            "validation": mode,
            "predicts by": rule,
            f"{total} (paper)": None if theirs is None else f"{theirs[0]:.0f}",
            total: f"{values.mean():.1f}" if target == LABELS else f"{values.mean():.0f}",
            "% better (paper)": None if theirs is None else f"{theirs[1]:+.2f}",
            "% better": f"{np.mean(better):+.2f}",
        }


def difference_sentences(log_likelihoods: Predicted, target: str) -> Iterator[str]:
    """Differences paired by seed, with standard errors."""
    pairs = (
        (OURS, REFERENCE),
        ((EB_HYP, True, AVERAGE), REFERENCE),
        (OURS, (EB_HYP, False, BEST)),
        (OURS, (BAYES, False, AVERAGE)),
        (OURS, (BAYES, True, AVERAGE)),
        (OURS, (RANDOM, False, AVERAGE)),
    )
    for first, second in pairs:
        values, reference = log_likelihoods[first], log_likelihoods[second]
        mean, error = paired_difference(values, reference)
        percents = [percent(v, r) for v, r in zip(values, reference, strict=True)]
        error_text = f" ± {error:.1f}" if math.isfinite(error) else ""
        seeds = "1 seed" if len(percents) == 1 else f"{len(percents)} seeds"
        yield (
            f"{_key_text(first)} − {_key_text(second)}: {mean:+.1f}{error_text} nats "
            f"({np.mean(percents):+.2f} %) over {seeds}, {target}"
        )


def _key_text(key: Key) -> str:
    method, validated, rule = key
    return f"{method} {'with' if validated else 'without'} ({rule})"


SHADES = 12
SIZE = 36  # places a side of the surface
LETTERS = {"alpha": "α", "eta": "η", "kappa": "κ", "rho": "ρ"}


def figures_page(problem: SearchProblem, runs: Runs, target: str) -> str:
    """The page, from runs with seed 0 and a `target` that is predicted."""
    results = runs[BAYES, True, 0]
    title = f"McInerney 2017, figures 1 and 2: {problem.name}"
    bars = [
        validation_figure(results, name, what)
        for name, what in (("validation", None), ("test", target))
    ]
    cards = (
        section_card(
            "Figure 1: the best of the validation data is not the best of the test data",
            "How well does every setting that BayesOpt tried predict validation and test data?",
            "".join(map(figure_svg, bars)) + paragraphs([_overfitting(results, target)]),
        ),
        section_card(
            "Figure 2: the performance model",
            "What does EB-Hyp without validation data expect of two hyperparameters, the others "
            "being those of its best trial?",
            figure_svg(performance_figure(problem, runs[EB_HYP, False, 0]), 560, 460),
        ),
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title><style>{style_sheet()}</style></head>\n<body><main><h1>{escape(title)}</h1>"
        f"<p>Seed 0: {len(results)} trials.</p>{''.join(cards)}</main></body></html>\n"
    )


def ordered_losses(trials: Trials, target: str | None) -> list[float]:
    """Negative log likelihoods of validation data or a target, by validation score."""
    scores = scores_by_trial(trials)
    order = rank_trials(scores, maximize=True)
    if target is None:
        return [-scores[k] for k in order]
    return [-sum(trials[k][1].test[target]) for k in order]


def validation_figure(trials: Trials, name: str, target: str | None) -> Figure:
    """A dot a trial by validation score (figure 1); the lowest is highlighted."""
    values = ordered_losses(trials, target)
    places = range(1, len(values) + 1)
    lowest = min(places, key=lambda place: values[place - 1])
    low, high = range_of(values)
    return Figure(
        f"Negative log likelihood of {name} data",
        FigureAxis("settings by validation error", Scale("whole"), low=1, high=len(values)),
        FigureAxis(f"−log lik., {name}", low=low, high=high),
        (
            Dots("settings", places, values),
            Dots("lowest", [lowest], [values[lowest - 1]], "observed", size=12),
        ),
        f"{len(values)} settings by their validation error; the lowest is number {lowest} "
        f"with {format_number(low)}, the first has {format_number(values[0])}.",
        lambda: columns_table({"setting": places, name: values}),
    )


def _overfitting(trials: Trials, target: str) -> str:
    test = ordered_losses(trials, target)
    better = sum(value < test[0] for value in test)
    return (
        "The setting that validation chose predicts the test data with "
        f"{format_number(-test[0])} nats; {better} of the {len(test)} settings "
        f"predict them better, the best by {format_number(test[0] - min(test))} nats."
    )


def performance_figure(problem: SearchProblem, trials: Trials) -> Figure:
    """The posterior mean of f over two hyperparameters (figure 2)."""
    image = _surface(problem, trials)
    log, names = Scale("log"), [LETTERS[name] for name in problem.priors]
    x, y = np.meshgrid(log.positions_of(image.x), log.positions_of(image.y))
    means = np.array(image.mean)
    low, high = range_of(means)
    shades = np.round((SHADES - 1) * (means - low) / ((high - low) or 1.0))
    cells = [
        # A little larger than a cell, lest the paper shows between them.
        Dots(f"shade {k}", x[shades == k], y[shades == k], outline=None, size=15, opacity=clear)
        for k, clear in enumerate(np.linspace(0.06, 1.0, SHADES))
    ]
    tried = Dots(
        "trials",
        log.positions_of(trial.x for trial in image.trials),
        log.positions_of(trial.y for trial in image.trials),
        "observed",
        notes=[f"trial {trial.number}: {format_number(trial.score)}" for trial in image.trials],
    )
    return Figure(
        f"Expected log likelihood over {names[0]} and {names[1]}",
        FigureAxis(names[0], log, low=x.min(), high=x.max()),
        FigureAxis(names[1], log, low=y.min(), high=y.max()),
        (*cells, tried),
        f"From {format_number(low)} (pale) to {format_number(high)} (full).",
        lambda: columns_table({names[0]: x.ravel(), names[1]: y.ravel(), "f": means.ravel()}),
    )


def _surface(problem: SearchProblem, trials: Trials) -> SurrogateImage:
    sampler = EbHypSampler(problem.space, EbHypOptions(start_trials=0))
    study = optuna.create_study(direction="maximize", sampler=sampler)
    parameters = distributions(problem.space)
    for setting, record in trials:
        if record.f is not None:
            study.add_trial(create_trial(params=setting, distributions=parameters, value=record.f))
    study.ask(parameters)
    assert sampler.surrogate is not None
    return surface(sampler.surrogate, problem.space, *problem.priors, size=SIZE)
