"""Pictures that a model generates and reconstructs, in rows under captions."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter, QPen

from app.look import appearance
from app.views.plot.axes import small_font
from app.views.plot.scrolled_views import PaintedView
from core.figures.figure import Table
from core.tuning.events import ImagesDrawn, RunStarted

EDGE, GAP = 6, 6  # pixels around everything, and between pictures
APART = 8  # pixels between two rows
BESIDE = 24  # pixels between the last row and the others where it is beside them
MIN_INTEGER_SCALE = 3  # screen points a point, from which on all points are equally large
LARGEST = 150  # pixels of a picture's longer side


@dataclass(frozen=True)
class PictureRow:
    """A caption, pictures, and a word above each (or none)."""

    caption: str
    pictures: tuple[QImage, ...]
    words: tuple[str, ...] = ()


@dataclass
class _Placed:
    row: PictureRow
    caption: QRectF = field(default_factory=QRectF)
    boxes: list[QRectF] = field(default_factory=list)

    def words_height(self) -> float:
        return _line_height() * (2 if self.row.words else 1)


def grey_picture(values: Sequence[float], height: int, width: int) -> QImage:
    """A picture of grey values from 0 (dark) to 1."""
    shades = np.clip(np.asarray(values).reshape(height, width) * 255 + 0.5, 0, 255)
    shades = np.ascontiguousarray(shades, dtype=np.uint8)
    image = QImage(shades.data, width, height, width, QImage.Format.Format_Grayscale8)
    # The image only looks into the numbers, which do not outlive this function.
    return image.copy()


class PictureRows:
    """The drawing; the last row may be beside the others."""

    def __init__(self) -> None:
        self.rows: list[_Placed] = []
        self.min_height = 0.0

    def set_data(self, rows: Sequence[PictureRow]) -> None:
        """All pictures have one size."""
        self.rows = [_Placed(row) for row in rows]

    def lay_out(self, width: float, height: float) -> QSizeF:
        return QSizeF(width, self._place_rows(width, height) if self.rows else 0.0)

    def _place_rows(self, width: float, height: float) -> float:
        above, room = self.rows[:-1], width - 2 * EDGE
        wide, tall = self._max_scales(self.rows, room, height)
        if above:
            further = _column_count(self.rows[-1], len(above))
            beside = self._max_scales(above, room - BESIDE + GAP, height, further)
            # Beside the others the last row may leave larger pictures to all.
            if min(beside) > min(wide, tall):
                return self._place_beside(_picture_scale(*beside))
        return self._stack_rows(self.rows, _picture_scale(wide, tall), room)

    def _max_scales(
        self, rows: list[_Placed], width: float, height: float, further: int = 0
    ) -> tuple[float, float]:
        size = self.rows[0].row.pictures[0].size()
        across = max(_column_count(placed, 1) for placed in rows) + further
        wide = ((width + GAP) / across - GAP) / size.width()
        words = sum(placed.words_height() for placed in rows)
        tall = (height - 2 * EDGE - words - APART * (len(rows) - 1)) / len(rows) / size.height()
        return min(wide, LARGEST / max(size.width(), size.height())), tall

    def _stack_rows(self, rows: list[_Placed], scale: float, room: float) -> float:
        size = self.rows[0].row.pictures[0].size()
        wide, tall, top = size.width() * scale, size.height() * scale, float(EDGE)
        for placed in rows:
            placed.caption = QRectF(EDGE, top, room, _line_height())
            top += placed.words_height()
            lefts = (EDGE + index * (wide + GAP) for index in range(len(placed.row.pictures)))
            placed.boxes = [QRectF(left, top, wide, tall) for left in lefts]
            top += tall + APART
        return top - APART + EDGE

    def _place_beside(self, scale: float) -> float:
        above, last = self.rows[:-1], self.rows[-1]
        low = self._stack_rows(above, scale, 0.0)
        right = max(placed.boxes[-1].right() for placed in above)
        for placed in above:
            placed.caption.setWidth(right - EDGE)
        lines, columns = [placed.boxes[0] for placed in above], _column_count(last, len(above))
        step = lines[0].width() + GAP
        last.boxes = [
            lines[index // columns].translated(right - EDGE + BESIDE + index % columns * step, 0)
            for index in range(len(last.row.pictures))
        ]
        last.caption = QRectF(right + BESIDE, EDGE, columns * step - GAP, _line_height())
        return low

    def paint(self, painter: QPainter, _seen: QRectF) -> None:
        theme, metrics = appearance.current(), QFontMetricsF(small_font())
        alignment, elide = int(Qt.AlignmentFlag.AlignLeft), Qt.TextElideMode.ElideRight
        painter.setFont(small_font())
        for placed in self.rows:
            painter.setPen(QColor(theme.ink))
            caption = metrics.elidedText(placed.row.caption, elide, placed.caption.width())
            painter.drawText(placed.caption, alignment, caption)
            painter.setPen(QColor(theme.muted))
            for word, box in zip(placed.row.words, placed.boxes, strict=False):
                above = QRectF(box.left(), box.top() - _line_height(), box.width(), _line_height())
                painter.drawText(above, alignment, metrics.elidedText(word, elide, box.width()))
            for picture, box in zip(placed.row.pictures, placed.boxes, strict=True):
                _paint_picture(painter, picture, box)

    def tooltip_at(self, position: QPointF) -> str:
        for placed in self.rows:
            for index, box in enumerate(placed.boxes):
                if box.contains(position):
                    word = placed.row.words[index] if placed.row.words else ""
                    return f"{placed.row.caption}: {word}" if word else placed.row.caption
        return ""


def _picture_scale(wide: float, tall: float) -> float:
    fit = min(wide, max(tall, wide / 2))
    # All points equally large: only a whole number of pixels makes them so.
    return float(int(fit)) if fit >= MIN_INTEGER_SCALE else fit


def _line_height() -> float:
    return QFontMetricsF(small_font()).height() + 2


def _column_count(placed: _Placed, lines: int) -> int:
    return -(-len(placed.row.pictures) // lines)


def _paint_picture(painter: QPainter, picture: QImage, box: QRectF) -> None:
    # A picture that is reduced is smoothed, as whole points would be skipped; an enlarged one keeps
    # its points sharp.
    smooth = box.width() < picture.width()
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smooth)
    painter.drawImage(box, picture)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(QColor(appearance.current().control), 1))
    painter.drawRect(box.adjusted(-0.5, -0.5, 0.5, 0.5))


class PicturesView(PaintedView):
    """Pictures, their reconstructions, and generated ones."""

    name = "pictures"
    title = "What the model draws"
    question = "Has the model understood what the pictures are made of?"
    waiting = "Pictures that the best setting so far draws appear here after a trial."
    listens = (ImagesDrawn,)
    late = True

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        return bool(started.dataset.pictures)

    def make_drawing(self) -> PictureRows:
        self.pictures = PictureRows()
        return self.pictures

    def has_content(self) -> bool:
        return bool(self.run.images.originals or self.run.images.samples)

    def draw(self) -> None:
        drawn, rows = self.run.images, []
        verb = "was" if self.run.started.judged == "training" else "was not"
        for caption, kind in (
            (f"Pictures that the model {verb} trained on, with their labels", drawn.originals),
            ("The same, as the model sees them", drawn.reconstructions),
            ("Generated by the model", drawn.samples),
        ):
            pictures = tuple(grey_picture(values, drawn.height, drawn.width) for values in kind)
            words = tuple(drawn.labels) if kind is drawn.originals else ()
            if pictures:
                rows.append(PictureRow(caption, pictures, words))
        self.pictures.set_data(rows)
        self.page.update_layout()

    def describe(self) -> str:
        drawn = self.run.images
        return (
            f"Trial {drawn.number}, the best so far: {len(drawn.originals)} pictures of the data, "
            f"each as the model sees it below, and {len(drawn.samples)} generated pictures; "
            f"{drawn.height} by {drawn.width} points."
        )

    def table_data(self) -> Table:
        drawn = self.run.images
        kinds = (
            ("data", drawn.originals, drawn.labels),
            ("as seen", drawn.reconstructions, drawn.labels),
            ("generated", drawn.samples, [""] * len(drawn.samples)),
        )
        headers = ["row", "column"]
        for kind_title, pictures, labels in kinds:
            numbered = enumerate(zip(pictures, labels, strict=True), start=1)
            headers += [f"{kind_title} {number} {label}".strip() for number, (_, label) in numbered]
        every = [values for _, pictures, _ in kinds for values in pictures]
        return headers, [
            [p // drawn.width + 1, p % drawn.width + 1, *(values[p] for values in every)]
            for p in range(drawn.height * drawn.width)
        ]
