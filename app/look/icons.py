"""Icons: SVGs tinted when they are painted."""

from functools import lru_cache

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
        _svg_renderer(self._name, getattr(appearance.current(), token)).render(painter, square)

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


@lru_cache(maxsize=256)
def _svg_renderer(name: str, colour: str) -> QSvgRenderer:
    svg = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    # Qt draws currentColor in black.
    return QSvgRenderer(QByteArray(svg.replace("currentColor", colour).encode()))
