"""Icons: SVGs tinted when they are painted."""

from functools import lru_cache
from pathlib import Path

from PySide6.QtCore import QByteArray, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QIconEngine, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from app.look import appearance

FOLDER = appearance.RESOURCES / "icons"


class _Tinted(QIconEngine):
    def __init__(self, name: str, token: str) -> None:
        super().__init__()
        self._name, self._token = name, token

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        token = "muted" if mode == QIcon.Mode.Disabled else self._token
        side = min(rect.width(), rect.height())
        square = QRectF(rect.x(), rect.y(), side, side)
        # Qt draws currentColor in black.
        colours = (("currentColor", getattr(appearance.current(), token)),)
        svg_renderer(FOLDER / f"{self._name}.svg", colours).render(painter, square)

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        pixmap = QPixmap(size)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        painter.end()
        return pixmap

    def clone(self) -> QIconEngine:
        return _Tinted(self._name, self._token)


def tinted_icon(name: str, token: str = "ink") -> QIcon:
    """The icon `resources/icons/NAME.svg` in a token's colour."""
    return QIcon(_Tinted(name, token))


@lru_cache(maxsize=400)
def svg_renderer(file: Path, colours: tuple[tuple[str, str], ...]) -> QSvgRenderer:
    """A picture in which some colours are replaced, ((its own, shown), …)."""
    svg = file.read_text(encoding="utf-8")
    for own, shown in colours:
        svg = svg.replace(own, shown)
    return QSvgRenderer(QByteArray(svg.encode()))
