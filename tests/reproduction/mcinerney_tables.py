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

from core.export.report.svg import SvgDrawing, svg_number
from core.gp.evaluations import SurrogateImage
from core.gp.evaluator import surface
from core.samplers.averaging import best_tenth, log_predictive, rank_trials, uniform_weights
from core.samplers.bayes import EbHypSampler
from core.samplers.gp_options import EbHypOptions
from core.samplers.search_space import distributions
from tests.reproduction.kept_work import kept_folder
from tests.reproduction.mcinerney_models import BOTH, LABELS, TOKENS, faces_problem, topics_problem
from tests.reproduction.mcinerney_searches import (
    BAYES,
    EB_HYP,
    PROCESSES,
    RANDOM,
    Runs,
    SearchProblem,
    Trials,
    run_searches,
    scores_by_trial,
    searches,
    test_log_densities,
)
from tests.reproduction.paired_difference import paired_difference
from tests.reproduction.printed_figures import MCINERNEY_TABLE_2, MCINERNEY_TABLE_3
from tests.reproduction.tables import SENTENCE, Cells

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
    """How much of a table is measured."""

    trials: int  # of every search
    seeds: int
    data: int  # documents, or points a side that become one; 0 for all
    effort: int  # passes or epochs of a fit


TOPICS, QUICK_TOPICS = TableSize(30, 5, 0, 3), TableSize(20, 2, 1500, 2)
FACES, QUICK_FACES = TableSize(30, 5, 0, 15), TableSize(20, 2, 3, 15)


def table2_rows(
    folder: Path | None, quick: bool, processes: int = PROCESSES, size: TableSize | None = None
) -> Rows:
    """Topics of 20 Newsgroups, or of drawn documents."""
    size = size or (QUICK_TOPICS if quick else TOPICS)
    problem = topics_problem(folder, size.data, size.effort)
    yield from _measured_rows(problem, size, (TOKENS,), MCINERNEY_TABLE_2, processes)
    yield {SENTENCE: f"Every fit goes {size.effort} times through its documents."}


def table3_rows(
    folder: Path | None, quick: bool, processes: int = PROCESSES, size: TableSize | None = None
) -> Rows:
    """Deep latent Gaussian models of faces, or of drawn pictures."""
    size = size or (QUICK_FACES if quick else FACES)
    problem = faces_problem(folder, size.data, size.effort)
    yield from _measured_rows(problem, size, (BOTH, LABELS), MCINERNEY_TABLE_3, processes)
    points = f"means of {size.data} × {size.data} points" if size.data else "all points"
    yield {SENTENCE: f"Every fit goes {size.effort} times through its pictures, {points}."}


def _measured_rows(
    problem: SearchProblem,
    size: TableSize,
    predicted: Sequence[str],
    printed: Mapping[tuple[str, bool], tuple[float, float]],
    processes: int,
) -> Rows:
    all_searches = searches(problem, size.trials, range(size.seeds))
    runs = yield from run_searches(all_searches, processes)
    for target in predicted:
        log_likelihoods = predictions(runs, range(size.seeds), target)
        paper = printed if target == predicted[0] else {}
        yield from log_likelihood_rows(log_likelihoods, target, paper)
        for sentence in difference_sentences(log_likelihoods, target):
            yield {SENTENCE: sentence}
    page = kept_folder() / f"{problem.checkpoint_name}.html"
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
                value = log_predictive(densities, uniform_weights(len(chosen)))
            log_likelihoods[method, validated, rule].append(value)
    return log_likelihoods


def percent(value: float, reference: float) -> float:
    """By how many percent a value is better than the reference."""
    return 100.0 * (value - reference) / abs(reference)


def log_likelihood_rows(
    log_likelihoods: Predicted, target: str, printed: Mapping[tuple[str, bool], tuple[float, float]]
) -> Iterator[Cells]:
    """A row a method: the paper's, then ours alone."""
    reference = log_likelihoods[REFERENCE]
    for key in (*PRINTED, *BEYOND):
        method, validated, rule = key
        values = np.array(log_likelihoods[key])
        better = [percent(v, r) for v, r in zip(values, reference, strict=True)]
        theirs = printed.get((method, validated)) if key in PRINTED else None
        total = f"log lik., {target}"
        yield {
            "method": method,
            "validation": "with" if validated else "without",
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
STYLE = """
body { font: 15px system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; color: #1f2933; }
text { font-size: 12px; fill: #52606d; } .axis { stroke: #52606d; }
.bar { fill: #9fb3c8; } .lowest { fill: #b4490f; }
circle { fill: #fff; stroke: #1f2933; }
"""
STYLE += "".join(
    f".h{k} {{ fill: #0b69a3; opacity: {0.06 + 0.94 * k / (SHADES - 1):.2f}; }}\n"
    for k in range(SHADES)
)


def figures_page(problem: SearchProblem, runs: Runs, target: str) -> str:
    """The page, from runs with seed 0 and a `target` that is predicted."""
    results = runs[BAYES, True, 0]
    title = f"McInerney 2017, figures 1 and 2: {problem.name}"
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>
<style>{STYLE}</style></head>
<body><h1>{escape(title)}</h1><p>Seed 0: {len(results)} trials.</p>
<h2>Figure 1: the best of the validation data is not the best of the test data</h2>
<p>How well does every setting that BayesOpt tried predict validation and test data?</p>
{validation_bars(results, "validation", None)}
{validation_bars(results, "test", target)}
<p>{escape(_overfitting(results, target))}</p>
<h2>Figure 2: the performance model</h2>
<p>What does EB-Hyp without validation data expect of two hyperparameters, the others being those of
its best trial?</p>
{performance_model(problem, runs[EB_HYP, False, 0])}
</body></html>
"""


@dataclass(frozen=True)
class Frame:
    """Where a plot lies in a drawing: pixels of values, the ends of both axes being named."""

    drawing: SvgDrawing
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    left: float = 80.0
    right: float = 450.0
    top: float = 14.0
    bottom: float = 400.0

    def x(self, value: float) -> float:
        low, high = self.x_range
        return self.left + (value - low) / (high - low) * (self.right - self.left)

    def y(self, value: float) -> float:
        low, high = self.y_range
        return self.bottom - (value - low) / (high - low) * (self.bottom - self.top)

    def draw_axes(self, x_title: str, y_title: str) -> None:
        drawing = self.drawing
        drawing.add_line(self.left, self.bottom, self.right, self.bottom, "axis")
        for value in self.x_range:
            drawing.add_text(self.x(value), self.bottom + 18, svg_number(value), anchor="middle")
        for value in self.y_range:
            drawing.add_text(self.left - 6, self.y(value) + 4, svg_number(value), anchor="end")
        middle = (self.left + self.right) / 2
        drawing.add_text(middle, self.bottom + 36, x_title, anchor="middle")
        drawing.add_vertical_text(14, (self.top + self.bottom) / 2, y_title)


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
    # From a little below the lowest: differences matter, and a bar from 0 would hide them.
    low, high = min(values), max(values)
    air = (high - low) * 0.06 or abs(high) * 0.05 or 0.5
    y_range = (low - air, high + air)
    frame = Frame(drawing, (0, len(values)), y_range, right=960, bottom=196)
    frame.draw_axes("settings by validation error", f"−log lik., {name}")
    width = frame.x(1) - frame.x(0)
    for k, value in enumerate(values):
        kind, top = "lowest" if k == lowest else "bar", frame.y(value)
        drawing.add_bar(frame.x(k) + 0.1 * width, top, 0.8 * width, frame.bottom - top, kind)
    return drawing.to_svg()


def _overfitting(trials: Trials, target: str) -> str:
    test = ordered_losses(trials, target)
    better = sum(value < test[0] for value in test)
    return (
        "The setting that validation chose predicts the test data with "
        f"{svg_number(-test[0])} nats; {better} of the {len(test)} settings "
        f"predict them better, the best by {svg_number(test[0] - min(test))} nats."
    )


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
    frame = Frame(drawing, (x[0], x[-1]), (y[0], y[-1]))
    frame.draw_axes(*names)
    cell_width, cell_height = (
        (frame.right - frame.left) / len(x),
        (frame.bottom - frame.top) / len(y),
    )
    for row, values in enumerate(image.mean):
        for column, value in enumerate(values):
            shade = round((SHADES - 1) * (value - low) / ((high - low) or 1.0))
            corner = (frame.left + column * cell_width, frame.bottom - (row + 1) * cell_height)
            drawing.add_bar(*corner, cell_width + 0.4, cell_height + 0.4, f"h{shade}")
    for trial in image.trials:
        spot = f'cx="{frame.x(math.log(trial.x)):.1f}" cy="{frame.y(math.log(trial.y)):.1f}"'
        note = f"<title>trial {trial.number}: {svg_number(trial.score)}</title>"
        drawing.marks.append(f'<circle {spot} r="3.5">{note}</circle>')
    for k in range(SHADES):
        drawing.add_bar(frame.right + 14, frame.bottom - (k + 1) * 12, 14, 12.4, f"h{k}")
    drawing.add_text(frame.right + 34, frame.bottom, svg_number(low))
    drawing.add_text(frame.right + 34, frame.bottom - 12 * SHADES + 10, svg_number(high))
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
