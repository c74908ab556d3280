"""Figures 1 and 2 of McInerney 2017 as one HTML page."""

from __future__ import annotations

import math
from html import escape

import optuna
from optuna.trial import create_trial

from core.export.report.html import paragraphs, section_card
from core.export.report.style import style_sheet
from core.export.report.svg import SvgDrawing, padded_range, svg_axes, svg_number
from core.gp.evaluations import SurrogateImage
from core.gp.evaluator import surface
from core.reproduction.mcinerney.mcinerney_searches import (
    BAYES,
    EB_HYP,
    Runs,
    SearchProblem,
    Trials,
    scores_by_trial,
)
from core.samplers.averaging import rank_trials
from core.samplers.eb_hyp import EbHypSampler
from core.samplers.gp_options import EbHypOptions
from core.samplers.search_space import distributions

SHADES = 12
SIZE = 36  # places a side of the surface
LETTERS = {"alpha": "α", "eta": "η", "kappa": "κ", "rho": "ρ"}


def figures_page(problem: SearchProblem, runs: Runs, target: str) -> str:
    """The page, from runs with seed 0 and a `target` that is predicted."""
    results = runs[BAYES, True, 0]
    shades = "".join(
        f"svg .h{k} {{ fill: var(--s0); rx: 0; opacity: {0.06 + 0.94 * k / (SHADES - 1):.2f}; }}\n"
        for k in range(SHADES)
    )
    title = f"McInerney 2017, figures 1 and 2: {problem.name}"
    cards = [
        section_card(
            "Figure 1: the best of the validation data is not the best of the test data",
            "How well does every setting that BayesOpt tried predict validation and test data?",
            validation_bars(results, "validation", None)
            + validation_bars(results, "test", target)
            + paragraphs(_overfitting(results, target)),
        ),
        section_card(
            "Figure 2: the performance model",
            "What does EB-Hyp without validation data expect of two hyperparameters, the others "
            "being those of its best trial?",
            performance_model(problem, runs[EB_HYP, False, 0]),
        ),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>\n<style>{style_sheet()}{shades}</style></head>\n"
        f'<body><main><header><h1>{escape(title)}</h1><p class="lead">Seed 0: '
        f'{len(results)} trials.</p></header>\n<div class="cards">\n{chr(10).join(cards)}\n</div>'
        "</main></body></html>\n"
    )


def ordered_losses(trials: Trials, target: str | None) -> list[float]:
    """Negative log likelihoods of validation data or a target, by validation score."""
    scores = scores_by_trial(trials)
    order = rank_trials(scores, maximize=True)
    if target is None:
        return [-scores[k] for k in order]
    return [-sum(trials[k][1].test[target]) for k in order]


def validation_bars(trials: Trials, name: str, target: str | None) -> str:
    """A bar a trial by validation score (figure 1); the lowest is highlighted."""
    values = ordered_losses(trials, target)
    lowest = min(range(len(values)), key=values.__getitem__)
    drawing = SvgDrawing(
        f"Negative log likelihood of {name} data",
        f"{len(values)} settings by their validation error; the lowest is number {lowest + 1} "
        f"with {svg_number(values[lowest])}, the first has {svg_number(values[0])}.",
        height=240,
    )
    labels = ("settings by validation error", f"−log lik., {name}")
    # From a little below the lowest: differences matter, and a bar from 0 would hide them.
    axes = svg_axes(drawing, (0, len(values)), padded_range(values), labels)
    width = axes.x(1) - axes.x(0)
    for k, value in enumerate(values):
        kind = "fill0" if k == lowest else "hatched"
        top = axes.y(value)
        drawing.add_bar(axes.x(k) + 0.1 * width, top, 0.8 * width, axes.bottom_y - top, kind)
    return drawing.to_svg()


def _overfitting(trials: Trials, target: str) -> list[str]:
    test = ordered_losses(trials, target)
    better = sum(value < test[0] for value in test)
    return [
        "The setting that validation chose predicts the test data with "
        f"{svg_number(-test[0])} nats; {better} of the {len(test)} settings "
        f"predict them better, the best by {svg_number(test[0] - min(test))} nats."
    ]


def performance_model(problem: SearchProblem, trials: Trials) -> str:
    """The posterior mean of f over two hyperparameters (figure 2)."""
    image = _surface(problem, trials)
    names = [f"log {LETTERS[name]}" for name in problem.priors]
    x, y = ([math.log(value) for value in values] for values in (image.x, image.y))
    cells = [value for row in image.mean for value in row]
    low, high = min(cells), max(cells)
    drawing = SvgDrawing(
        f"Expected log likelihood over {names[0]} and {names[1]}",
        f"From {svg_number(low)} (pale) to {svg_number(high)} (full).",
        width=560,
        height=460,
    )
    axes = svg_axes(drawing, (x[0], x[-1]), (y[0], y[-1]), (names[0], names[1]), right=110)
    cell_width = (axes.x.end - axes.x.start) / len(x)
    cell_height = (axes.bottom_y - axes.y.end) / len(y)
    for row, values in enumerate(image.mean):
        for column, value in enumerate(values):
            shade = round((SHADES - 1) * (value - low) / ((high - low) or 1.0))
            corner = (axes.x.start + column * cell_width, axes.bottom_y - (row + 1) * cell_height)
            drawing.add_bar(*corner, cell_width + 0.4, cell_height + 0.4, f"h{shade}")
    for trial in image.trials:
        note = f"trial {trial.number}: {svg_number(trial.score)}"
        spot = (axes.x(math.log(trial.x)), axes.y(math.log(trial.y)))
        drawing.add_dot(*spot, "dot d-seen", 3.5, note)
    for k in range(SHADES):
        top = axes.bottom_y - (k + 1) * 12
        drawing.add_bar(axes.x.end + 14, top, 14, 12.4, f"h{k}")
    drawing.add_text(axes.x.end + 34, axes.bottom_y, svg_number(low))
    drawing.add_text(axes.x.end + 34, axes.bottom_y - 12 * SHADES + 10, svg_number(high))
    return drawing.to_svg()


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
