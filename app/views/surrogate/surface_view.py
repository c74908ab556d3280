"""Two settings at once: the expected score as a coloured surface, contour lines, and trials."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.numbers import plain, shown
from app.text.scores import metric_in_short
from app.text.settings import named
from app.views.plot.colour_bar import ColourBar
from app.views.plot.data_table import Table
from app.views.plot.highlight import Highlight
from app.views.plot.items import Dots, Lines, pen
from app.views.plot.plot import Plot
from app.views.plot.pointer import Reading
from app.views.plot.record import Record
from app.views.plot.scales import scale_of
from app.views.surrogate.surrogate_view import SurrogateView
from core.space import varies
from core.tuning.events import RunStarted


class SmoothImage(pg.ImageItem):
    """An image whose cells flow into each other, unless they are choices."""

    smooth = True

    def paint(self, painter: QPainter, *args: object) -> None:
        """As the image, with the hint that asks for smooth scaling."""
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, self.smooth)
        super().paint(painter, *args)


class SurfaceView(SurrogateView):
    """A mean over two settings, the brighter the better; trials on it.

    The evaluator's answer has first, second, x, y, x_labels, y_labels, mean, sd, contours and next.
    """

    zooms = True
    interval = 0.09

    def __init__(self, record: Record | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.plot = self.canvas.add_plot()
        self.image = SmoothImage(axisOrder="row-major")
        self.contours = Lines()
        self.dots, self.others = Dots("circle", 8), Dots("circle", 5)
        self.best, self.next = Dots("star", 19), Dots("diamond", 13)
        self.highlight = Highlight()
        self.plot.addItem(self.image)
        for item in (self.contours, *self.behind_trials(), self.others, self.dots):
            self.plot.addItem(item)
        for item in (self.best, self.next, self.highlight):
            self.plot.addItem(item)
        self.bar = ColourBar()
        self.canvas.addItem(self.bar, row=0, col=1)
        self.paint_theme()

    def behind_trials(self) -> list[Dots]:
        """What is drawn below this run's trials."""
        return []

    def maximize(self) -> bool:
        """Whether higher means better."""
        return self.run.started.maximize

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        """Runs with a surrogate over two settings or more."""
        return super().wants(started) and sum(map(varies, started.space)) >= 2

    def controls(self) -> list[QWidget]:
        """The two axes."""
        self.first = self.chooser("Setting along the bottom", self._chosen)
        self.second = self.chooser("Setting along the left", self._chosen)
        return [self.first, self.second]

    def start(self, started: RunStarted) -> None:
        """Other axes."""
        super().start(started)
        for at, box in enumerate((self.first, self.second)):
            box.clear()
            for axis in started.space:
                box.addItem(named(axis), axis["name"])
            box.setCurrentIndex(min(at, len(started.space) - 1))
            box.setVisible(len(started.space) > 2)
        self._paint_colours()

    def _chosen(self, _at: int) -> None:
        if self.first.currentIndex() == self.second.currentIndex():
            other = self.second if self.sender() is self.first else self.first
            other.setCurrentIndex((other.currentIndex() + 1) % other.count())
        self.canvas.zoom.whole()
        self.dirty = True

    def paint_theme(self) -> None:
        """Viridis; dots in paper with an ink outline stand out on all of it."""
        self.contours.set_style(pen("#FFFFFF", 1.0), pen("#1F2933", 1.8))
        self.dots.set_style("#FFFFFF", "#1F2933", 1.4)
        self.others.set_style(None, "#FFFFFF", 1.0)
        self.best.set_style("#F2B632", "#1F2933", 1.4)
        self.next.set_style("#D55E00", "#FFFFFF", 1.6)
        self._paint_colours()

    def _paint_colours(self) -> None:
        """The theme's colours, with the bright end where the scores are better."""
        self.colours = pg.colormap.get(appearance.current().colormap)
        if not self.maximize():
            # The library keeps the map and gives the same one to everybody: turn a copy.
            ends = self.colours.getColors(mode="byte")[::-1]
            self.colours = pg.ColorMap(self.colours.pos, ends)
        self.image.setColorMap(self.colours)
        self.bar.set_colours(self.colours)

    def draw(self) -> None:
        """The answer of the evaluator, and the record's trials that the filter lets through."""
        answer, run = self.answer, self.run
        names = [axis["name"] for axis in self.record.axes]
        columns = [names.index(answer["first"]), names.index(answer["second"])]
        axes = [self.record.axes[column] for column in columns]
        scales = [scale_of(axis) for axis in axes]
        for side, axis, scale in zip((self.plot.bottom, self.plot.left), axes, scales, strict=True):
            side.set_scale(scale)
            side.set_title(named(axis))
        x, y = (
            np.array(answer[key]) if scale.kind == "choice" else scale.places(answer[key])
            for key, scale in zip("xy", scales, strict=True)
        )
        self._scales = scales
        self._draw_image(x, y, np.array(answer["mean"]))
        self._draw_contours(scales)
        self._draw_trials(columns)
        self.draw_more(columns)
        ahead = answer["next"]
        spot = [] if ahead is None or run.ended else [[ahead["x"], ahead["y"]]]
        at = [[_place(value, s) for value, s in zip(pair, scales, strict=True)] for pair in spot]
        self.next.set_data([p[0] for p in at], [p[1] for p in at])
        self.canvas.align_left()

    def _draw_image(self, x: np.ndarray, y: np.ndarray, mean: np.ndarray) -> None:
        (x_edges, across), (y_edges, up) = _even(x), _even(y)
        low, high = float(mean.min()), float(mean.max())
        high = high if high > low else low + 1e-9
        self.image.smooth = not any(s.kind == "choice" for s in self._scales)
        self.image.setImage(mean[np.ix_(up, across)], levels=(low, high), autoLevels=False)
        wide, tall = x_edges[1] - x_edges[0], y_edges[1] - y_edges[0]
        self.image.setRect(QRectF(x_edges[0], y_edges[0], wide, tall))
        self.plot.hold_x(*x_edges, exact=True)
        self.plot.hold_y(*y_edges, exact=True)
        self.bar.set_range(low, high, maximize=self.maximize())

    def _draw_contours(self, scales: list) -> None:
        if any(scale.kind == "choice" for scale in scales) or not self.answer["contours"]:
            self.contours.set_data([], [])
            return
        parts = [
            np.column_stack([scales[0].places(line["x"]), scales[1].places(line["y"])])
            for line in self.answer["contours"]
        ]
        gap = np.full((1, 2), np.nan)
        corners = np.vstack([piece for part in parts for piece in (part, gap)])
        self.contours.set_data(corners[:, 0], corners[:, 1])

    def _draw_trials(self, columns: list[int]) -> None:
        run = self.run
        x, y = self.record.places[:, columns[0]], self.record.places[:, columns[1]]
        clear = self.record.filtered() & ~run.out
        self.dots.set_data(x[clear], y[clear])
        rest = np.isfinite(run.scores) & ~clear
        self.others.set_data(x[rest], y[rest])
        top = run.best_rows(1)
        self.best.set_data(x[top], y[top])
        self.highlight.mark(self.record, x, y)
        self.canvas.set_pickable(self.plot, x, y, run.numbers)

    def draw_more(self, columns: list[int]) -> None:
        """Draw what else belongs to it, over these axes of the record."""

    def reading(self, plot: Plot, x: float, y: float) -> Reading | None:
        """What is expected of the nearest pair of values."""
        found, lines = [], []
        for key, place, scale, axis in zip(
            "xy", (x, y), self._scales, self.shown_axes(), strict=True
        ):
            places = np.array([_place(value, scale) for value in self.answer[key]])
            at = int(np.argmin(np.abs(places - place)))
            found.append((at, float(places[at])))
            lines.append(f"{named(axis)} {scale.word(float(places[at]))}")
        (column, across), (row, up) = found
        mean, sd = (self.answer[key][row][column] for key in ("mean", "sd"))
        lines.append(f"expected {self.measured()} {plain(mean)} ± {plain(sd, 2)}")
        return Reading("\n".join(lines), across, up)

    def measured(self) -> str:
        """What is expected."""
        return metric_in_short(self.run.started.metric)

    def shown_axes(self) -> list[dict[str, Any]]:
        """The two axes of the answer: along the bottom, along the left."""
        known = {axis["name"]: axis for axis in self.record.axes}
        return [known[self.answer[key]] for key in ("first", "second")]

    def rows(self) -> Table:
        """Every place with its expected score and standard deviation."""
        answer = self.answer
        x, y = answer["x_labels"] or answer["x"], answer["y_labels"] or answer["y"]
        rows = [
            [x[i], y[j], answer["mean"][j][i], answer["sd"][j][i]]
            for j in range(len(y))
            for i in range(len(x))
        ]
        names = [named(axis) for axis in self.shown_axes()]
        return [*names, "expected", "standard deviation"], rows


def _place(position: float, scale: object) -> float:
    return position if scale.kind == "choice" else scale.place(position)


def _even(places: np.ndarray) -> tuple[tuple[float, float], np.ndarray]:
    """The outer edges of an image over these places, and the place shown by each of its cells.

    Whole numbers on a logarithmic axis are unevenly far apart; an image has equal cells only, so
    each cell shows the place nearest to it.
    """
    if len(places) == 1:
        return (places[0] - 0.5, places[0] + 0.5), np.array([0])
    gaps = np.diff(places)
    half = (gaps[0] / 2, gaps[-1] / 2)
    edges = (float(places[0] - half[0]), float(places[-1] + half[1]))
    count = len(places) if np.allclose(gaps, gaps[0]) else 120
    middles = edges[0] + (np.arange(count) + 0.5) * (edges[1] - edges[0]) / count
    return edges, np.abs(middles[:, None] - places[None, :]).argmin(axis=1)


class Surface(SurfaceView):
    """The surrogate's mean over two axes."""

    name = "surface"
    title = "Pairs of settings"
    question = "Which pairs of settings go well together?"
    waiting = "The expected score over two settings appears here after the first few trials."

    def what_to_evaluate(self) -> dict[str, object]:
        """The surface over the chosen axes through the best point."""
        first, second = self.first.currentData(), self.second.currentData()
        return {"what": "surface", "first": first, "second": second}

    def describe(self) -> str:
        """The best pair, and the range of the expected score."""
        answer, best = self.answer, self.run.best
        mean = np.array(answer["mean"])
        said = "Expected score over {} and {}, from {} to {}. {}".format(
            *map(named, self.shown_axes()),
            plain(mean.min()),
            plain(mean.max()),
            f"{'Higher' if self.maximize() else 'Lower'} is better, and bright.",
        )
        if best is not None:
            pair = [shown(best.setting.get(answer[key])) for key in ("first", "second")]
            said += " " + "Best {} at {} and {}.".format(plain(best.score), *pair)
        return said
