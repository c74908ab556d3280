"""The pictures and measured facts of the models' cards, in resources/models.

    .venv/bin/python packaging/make_model_pictures.py [NAME …]

A picture is drawn by the fitted model itself: how it tells two classes apart, how it follows a
curve, which tags, pairs or topics it finds. It is made in the light theme's colours, which the
window replaces by its own. The facts are how long a fit takes, and how much of a chessboard the
model learns. Models whose package lacks here keep what they have.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from contourpy import FillType, contour_generator

from core.datasets.reading import read_dataset
from core.datasets.task import Task
from core.estimators.model import Model
from core.estimators.multi_model import SEVERAL
from core.estimators.optional_parts import is_installed
from core.estimators.registry import MODELS
from core.space import default_setting
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem
from resources.theme import LIGHT

FOLDER = Path(__file__).resolve().parents[1] / "resources" / "models"
FACTS = FOLDER / "facts.json"
WIDTH, HEIGHT = 132, 92
TOY_ROWS, DRAWN = 400, 70
TIMED_ROWS, TIMED_COLUMNS = 2000, 10
FIELDS = 4  # of a side of the chessboard
LEVELS = (0.5, 0.65, 0.8, 0.92)
TOLERANCE = 0.35  # pixels by which a simplified outline may be off
FIRST, SECOND, INK = LIGHT.model, LIGHT.observed, LIGHT.muted
Points = np.ndarray


def main() -> None:
    """Make the pictures and facts of the models that are named, or of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    named = parser.parse_args().names or [name for name in MODELS if name != SEVERAL]
    FOLDER.mkdir(parents=True, exist_ok=True)
    facts = json.loads(FACTS.read_text(encoding="utf-8")) if FACTS.exists() else {}
    warnings.simplefilter("ignore")
    for name in named:
        model = MODELS[name]
        if model.extra and not is_installed(model.extra):
            print(f"{name}: its package lacks here, its picture stays as it is")
            continue
        for task in (Task.BINARY, Task.REGRESSION):
            if task in model.tasks:
                kind = "numbers" if task.has_numbers else "classes"
                draw = _draw_curve if task.has_numbers else _draw_boundary
                _write_picture(f"{name}-{kind}", draw(model))
                facts.setdefault(name, {})[kind] = _measured_facts(model, task)
                print(name, kind, facts[name][kind], flush=True)
        if draw_structure := OF_STRUCTURES.get(name):
            _write_picture(f"{name}-{model.tasks[0]}", draw_structure(model))
    FACTS.write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _fit_model(model: Model, task: Task, X: Any, y: Any) -> Any:
    able = model.probabilistic or model
    setting = default_setting(able.space(task))
    setting |= able.defaults(task, X) if able.defaults else {}
    return able.build(task, setting, 0).fit(X, y)


# Facts --------------------------------------------------------------------------------------------


def _measured_facts(model: Model, task: Task) -> dict[str, float]:
    """Seconds of a fit (the quickest of three), and the share of a chessboard that is learned."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((TIMED_ROWS, TIMED_COLUMNS))
    signal = X[:, 0] + X[:, 1] * X[:, 2] + rng.standard_normal(TIMED_ROWS)
    y = signal if task.has_numbers else np.where(signal > 0, "a", "b")
    seconds = min(_seconds_of(lambda: _fit_model(model, task, X, y)) for _ in range(3))
    corners = rng.uniform(0, FIELDS, (2 * TIMED_ROWS, 2))
    dark = np.floor(corners).sum(axis=1) % 2
    target = dark if task.has_numbers else np.where(dark > 0, "a", "b")
    scaled = (corners - FIELDS / 2) / (FIELDS / 12**0.5)
    fitted = _fit_model(model, task, scaled[:TIMED_ROWS], target[:TIMED_ROWS])
    answers = fitted.predict(scaled[TIMED_ROWS:])
    if task.has_numbers:
        answers, target = answers > 0.5, target > 0.5
    share = float(np.mean(answers == target[TIMED_ROWS:]))
    return {"seconds": float(f"{seconds:.2g}"), "learned": round(max(0.0, 2 * share - 1), 2)}


def _seconds_of(work: Callable[[], object]) -> float:
    start = time.process_time()  # other programs take none of it
    work()
    return time.process_time() - start


# Models of tables ---------------------------------------------------------------------------------


def _draw_boundary(model: Model) -> Iterable[str]:
    """Two arcs of points, and how sure the model is of each class everywhere."""
    rng = np.random.default_rng(4)
    angles, second = rng.uniform(0, np.pi, TOY_ROWS), np.arange(TOY_ROWS) % 2 == 1
    arcs = np.column_stack([np.cos(angles), np.sin(angles)])
    arcs[second] = [1.0, 0.45] - arcs[second]
    X = arcs + 0.24 * rng.standard_normal(arcs.shape)
    low, high = X[:DRAWN].min(axis=0) - 0.2, X[:DRAWN].max(axis=0) + 0.2
    centre, spread = X.mean(axis=0), X.std(axis=0)
    fitted = _fit_model(model, Task.BINARY, (X - centre) / spread, np.where(second, "b", "a"))
    across, down = np.linspace(0, WIDTH, 133), np.linspace(0, HEIGHT, 93)
    points = np.stack(np.meshgrid(across, down), axis=-1).reshape(-1, 2)
    rows = low + (high - low) * np.column_stack([points[:, 0] / WIDTH, 1 - points[:, 1] / HEIGHT])
    chances = fitted.predict_proba((rows - centre) / spread)[:, 1].reshape(len(down), len(across))
    for colour, sure in ((FIRST, 1 - chances), (SECOND, chances)):
        areas = contour_generator(across, down, sure, fill_type=FillType.OuterOffset)
        for level in LEVELS:
            if path := _area_path(areas.filled(level - 1e-9, 2.0)):
                yield f'<path fill="{colour}" fill-opacity=".1" fill-rule="evenodd" d="{path}"/>'
    lines = contour_generator(across, down, chances).lines(0.5)
    path = "".join(_path_data(line) for line in lines)
    yield f'<path fill="none" stroke="{INK}" stroke-width="1.2" d="{path}"/>'
    drawn = (X[:DRAWN] - low) / (high - low) * [WIDTH, -HEIGHT] + [0, HEIGHT]
    for (x, y), is_second in zip(drawn, second, strict=False):
        yield _dot_element(x, y, SECOND if is_second else FIRST)


def _area_path(filled: Any) -> str:
    points, offsets = filled
    rings = (
        polygon[start:end]
        for polygon, edges in zip(points, offsets, strict=True)
        for start, end in pairwise(edges)
    )
    return "".join(_path_data(ring, "z") for ring in rings)


def _draw_curve(model: Model) -> Iterable[str]:
    """Points about a curve with a step, and what the model predicts along it."""
    rng = np.random.default_rng(2)
    x = rng.uniform(0, 1, TOY_ROWS)
    y = _true_curve(x) + 0.22 * rng.standard_normal(TOY_ROWS)
    scaled = (x - 0.5) * 12**0.5
    fitted = _fit_model(model, Task.REGRESSION, scaled[:, None], y)
    along = np.linspace(0, 1, 265)
    answers = np.asarray(fitted.predict((along[:, None] - 0.5) * 12**0.5)).ravel()
    low, high = y[:DRAWN].min() - 0.15, y[:DRAWN].max() + 0.15
    for at, value in zip(x[:DRAWN], y[:DRAWN], strict=True):
        yield _dot_element(at * WIDTH, HEIGHT * (high - value) / (high - low), SECOND)
    heights = np.clip(HEIGHT * (high - answers) / (high - low), 0, HEIGHT)
    path = _path_data(np.column_stack([along * WIDTH, heights]))
    yield f'<path fill="none" stroke="{FIRST}" stroke-width="1.6" d="{path}"/>'


def _true_curve(x: np.ndarray) -> np.ndarray:
    return np.sin(5.5 * x) + 0.9 * (x > 0.68)


# Sequences, molecules, texts ----------------------------------------------------------------------


def _fitted_rows(name: str, task: Task, model: Model) -> tuple[Any, Any]:
    dataset = read_dataset(f"sample:{name}")
    return _fit_model(model, task, dataset.features, dataset.target), dataset.features


def _draw_tags(model: Model) -> Iterable[str]:
    """The labels that neighbouring tokens are given, a colour a label, joined in each sentence."""
    fitted, rows = _fitted_rows("tags", Task.SEQUENCE, model)
    answers = np.asarray(fitted.predict(rows))
    sentences = rows.iloc[:, 0].to_numpy()
    labels = list(dict.fromkeys(answers))
    for line, sentence in enumerate(list(dict.fromkeys(sentences))[:4]):
        tokens, y = answers[sentences == sentence][:6], 12 + 19 * line
        yield (f'<path stroke="{INK}" stroke-width="1" d="M10 {y + 5}H{21 * len(tokens) + 1}"/>')
        for index, label in enumerate(tokens):
            colour = LIGHT.series[labels.index(label) % 4]
            yield (
                f'<rect x="{6 + 21 * index}" y="{y}" width="15" height="11" rx="3" '
                f'fill="{colour}"/>'
            )


def _draw_pairs(model: Model) -> Iterable[str]:
    """The pairs of bases of a molecule that the model folds, as arcs."""
    fitted, rows = _fitted_rows("molecules", Task.STRUCTURE, model)
    structures = [str(answer) for answer in fitted.predict(rows.iloc[:12])]
    structure = max(structures, key=lambda text: text.count("(") - 0.2 * len(text))
    step = (WIDTH - 12) / max(1, len(structure) - 1)
    opened: list[int] = []
    for index, sign in enumerate(structure):
        if sign == "(":
            opened.append(index)
        if sign == ")":
            start, end = 6 + step * opened.pop(), 6 + step * index
            radius, rise = (end - start) / 2, min(64.0, (end - start) * 0.62)
            yield (
                f'<path fill="none" stroke="{FIRST}" stroke-width="1.4" d="M{start:.1f} 78'
                f'A{radius:.1f} {rise:.1f} 0 0 1 {end:.1f} 78"/>'
            )
    for index, sign in enumerate(structure):
        yield _dot_element(6 + step * index, 78, INK if sign == "." else SECOND, 1.6)


def _draw_topics(model: Model) -> Iterable[str]:
    """The shares of every topic in some texts, a line a text."""
    plan = Plan(DataPlan("sample:texts"), model.name, "random")
    dataset = read_dataset(plan.data.file)
    counts = build_problem(plan, dataset).preparation().fit_transform(dataset.features, None)
    setting = default_setting(model.space(Task.TOPICS)) | {"topics": 4}
    fitted = model.build(Task.TOPICS, setting, 0).fit(counts)
    shares = np.asarray(fitted.transform(counts))
    firsts = [np.argsort(-shares[:, topic])[:3] for topic in (0, 1, 2, 3)]
    for line, row in enumerate(dict.fromkeys(int(row) for rows in firsts for row in rows)):
        x = 8.0
        for topic, share in enumerate(shares[row] / shares[row].sum()):
            width = share * (WIDTH - 16)
            yield (
                f'<rect x="{x:.1f}" y="{6 + 6.8 * line:.1f}" width="{width:.1f}" height="5" '
                f'fill="{LIGHT.series[topic]}"/>'
            )
            x += width


OF_STRUCTURES = {"crf": _draw_tags, "rna": _draw_pairs, "lda": _draw_topics}


# SVG ----------------------------------------------------------------------------------------------


def _write_picture(name: str, elements: Iterable[str]) -> None:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">'
    text = "\n".join([head, *elements, "</svg>", ""])
    (FOLDER / f"{name}.svg").write_text(text, encoding="utf-8", newline="\n")


def _dot_element(x: float, y: float, colour: str, radius: float = 1.9) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{colour}"/>'


def _path_data(points: Points, end: str = "") -> str:
    middle = len(points) // 2
    # A ring has no ends: it is simplified as two halves.
    halves = [_simplified_points(points[: middle + 1]), _simplified_points(points[middle:])[1:]]
    return "M" + "L".join(f"{x:.4g} {y:.4g}" for x, y in np.concatenate(halves)) + end


def _simplified_points(points: Points) -> Points:
    """The points without those that lie within the tolerance of the line (Douglas, Peucker)."""
    if len(points) < 3:
        return points
    (x, y), (dx, dy) = points[0], points[-1] - points[0]
    length = np.hypot(dx, dy)
    away = np.hypot(*(points - points[0]).T)
    if length:
        away = np.abs((points[:, 0] - x) * dy - (points[:, 1] - y) * dx) / length
    farthest = int(np.argmax(away))
    if away[farthest] <= TOLERANCE:
        return points[[0, -1]]
    return np.concatenate(
        [_simplified_points(points[: farthest + 1])[:-1], _simplified_points(points[farthest:])]
    )


if __name__ == "__main__":
    main()
