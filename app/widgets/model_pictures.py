"""What a card shows of a model at a glance: its picture, and its scales of five dots."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.look import appearance, icons
from app.widgets.text_labels import follow_width, plain_tooltip
from core.estimators.facts import ModelScale
from resources.theme import LIGHT

FOLDER = appearance.RESOURCES / "models"
MAX_DOTS = 5
_WIDTH, _HEIGHT = 108, 75


def has_picture(name: str) -> bool:
    """Whether such a picture is shipped; models of extensions have none."""
    return bool(name) and (FOLDER / f"{name}.svg").is_file()


class ModelPicture(QWidget):
    """The picture in the colours of the theme; the words beside it say the same."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def sizeHint(self) -> QSize:
        return QSize(appearance.pixels(_WIDTH), appearance.pixels(_HEIGHT))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = QPainter(self), appearance.current()
        pairs = zip((LIGHT.muted, *LIGHT.series), (theme.muted, *theme.series), strict=False)
        colours = tuple((f'"{shipped}"', f'"{shown}"') for shipped, shown in pairs)
        picture = icons.svg_renderer(FOLDER / f"{self._name}.svg", colours)
        picture.render(painter, QRectF(self.rect()))
        painter.setPen(QPen(QColor(theme.line), 1))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))


class ScaleDots(QWidget):
    """Scales' names and dots, in lines that fit the width."""

    def __init__(self, scales: Sequence[ModelScale]) -> None:
        super().__init__()
        self._scales = scales
        self.setProperty("voice", "caption")
        sentences = [scale.sentence for scale in scales]
        self.setToolTip(plain_tooltip("\n".join(sentences)))
        self.setAccessibleName(", ".join(sentences))
        follow_width(self)

    @property
    def _dot_step(self) -> float:
        return self.fontMetrics().ascent() * 0.85  # from dot to dot

    def _corners_of(self, width: float) -> list[QPointF]:
        corners, x, y = [], 0.0, 0.0
        for scale in self._scales:
            item_width = self.fontMetrics().horizontalAdvance(scale.name) + 6 * self._dot_step
            if x and x + item_width > width:
                x, y = 0.0, y + self.fontMetrics().height() + 2
            corners.append(QPointF(x, y))
            x += item_width + 1.2 * self._dot_step
        return corners

    def heightForWidth(self, width: int) -> int:
        return round(self._corners_of(width)[-1].y()) + self.fontMetrics().height() + 2

    def sizeHint(self) -> QSize:
        end = self._corners_of(1e6)[-1].x() + 6 * self._dot_step
        end += self.fontMetrics().horizontalAdvance(self._scales[-1].name)
        return QSize(round(end), self.fontMetrics().height() + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(self.sizeHint().width() // len(self._scales), self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = QPainter(self), appearance.current()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        metrics, step = self.fontMetrics(), self._dot_step
        for scale, corner in zip(self._scales, self._corners_of(self.width()), strict=True):
            painter.setPen(QColor(theme.muted))
            painter.drawText(corner + QPointF(0, metrics.ascent()), scale.name)
            start = corner + QPointF(metrics.horizontalAdvance(scale.name), metrics.height() / 2)
            for dot in range(1, MAX_DOTS + 1):
                is_full = dot <= scale.dots
                # An outline tells an empty dot from a full one without its colour.
                painter.setPen(QPen(QColor(theme.accent if is_full else theme.control), 1))
                painter.setBrush(QColor(theme.accent if is_full else theme.paper))
                painter.drawEllipse(start + QPointF(dot * step, 0), step * 0.32, step * 0.32)
