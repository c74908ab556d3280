"""Help: the pages of app/help, one at a time, in a dialog of their own."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QImage, QTextDocument
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLineEdit,
    QTextBrowser,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.help.markup import html, plain
from app.help.pages import FOLDER, Page, page_of, pages
from app.look import appearance
from app.widgets.buttons import LinkButton, PlainButton

SIZE = (980, 680)
LARGEST_PICTURE = 640  # pixels wide
_KEY = Qt.ItemDataRole.UserRole
_STYLE = """
a {{ color: {accent}; }} th {{ color: {muted}; }} code, pre {{ color: {ink}; }}
"""


class _Pages(QTextBrowser):
    """A browser that draws pictures smoothly at the width that there is."""

    wide = LARGEST_PICTURE

    def loadResource(self, kind: int, name: QUrl) -> object:
        """A picture of the help, made as wide as there is room; nothing from anywhere else."""
        path = FOLDER / "pictures" / name.fileName()
        if kind != QTextDocument.ResourceType.ImageResource.value or not path.is_file():
            return None
        ratio = self.devicePixelRatioF()
        smooth = Qt.TransformationMode.SmoothTransformation
        image = QImage(str(path)).scaledToWidth(round(self.wide * ratio), smooth)
        image.setDevicePixelRatio(ratio)
        return image


class HelpDialog(QDialog):
    """Pages at the left, under a search; the text at the right.

    Args:
        place: the page, or the place on a page, that is shown first.

    Signals:
        tour_wanted: a person wants to be shown around.
    """

    tour_wanted = Signal()

    def __init__(self, place: str = "start", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Help")
        self._fit(parent)
        self._visited: list[str] = []
        self._items: dict[str, QTreeWidgetItem] = {}
        self.search = self._make_search()
        self.topics = self._make_topics()
        self.text = self._make_text()
        left = QVBoxLayout()
        left.addWidget(self.search)
        left.addWidget(self.topics, 1)
        row = QHBoxLayout()
        row.addLayout(left)
        row.addWidget(self.text, 1)
        whole = QVBoxLayout(self)
        whole.addLayout(row, 1)
        whole.addLayout(self._make_foot())
        appearance.notifier.themed.connect(self._show_again)
        self.go(place)

    def _fit(self, parent: QWidget | None) -> None:
        width, height = map(appearance.pixels, SIZE)
        if parent is not None:
            room = parent.window().size()
            width, height = min(width, room.width() - 40), min(height, room.height() - 40)
        self.resize(width, height)

    def _make_search(self) -> QLineEdit:
        made = QLineEdit()
        made.setPlaceholderText("Search the help")
        made.setAccessibleName("Search the help")
        made.setClearButtonEnabled(False)
        made.setFixedWidth(self._side())
        made.textChanged.connect(self._narrow)
        return made

    def _side(self) -> int:
        return min(appearance.pixels(240), self.width() * 34 // 100)

    def _make_topics(self) -> QTreeWidget:
        made = QTreeWidget()
        made.setAccessibleName("Topics")
        made.setHeaderHidden(True)
        made.setFixedWidth(self._side())
        made.setIndentation(14)
        high = QSize(0, self.fontMetrics().height() + 14)
        for page in pages().values():
            item = QTreeWidgetItem([page.title])
            item.setData(0, _KEY, page.key)
            item.setSizeHint(0, high)
            item.setToolTip(0, page.title)
            self._items[page.key] = item
            if page.parent in self._items:
                self._items[page.parent].addChild(item)
            else:
                made.addTopLevelItem(item)
        made.currentItemChanged.connect(self._chosen)
        return made

    def _make_text(self) -> _Pages:
        made = _Pages()
        made.setAccessibleName("Help text")
        made.setOpenLinks(False)
        made.document().setDocumentMargin(16)
        made.anchorClicked.connect(self._follow)
        return made

    def _make_foot(self) -> QHBoxLayout:
        foot = QHBoxLayout()
        self.back = LinkButton("Back", self._go_back)
        self.tour = LinkButton("Take the tour", self._take_tour)
        foot.addWidget(self.back)
        foot.addWidget(self.tour)
        foot.addStretch(1)
        foot.addWidget(PlainButton("Close", self.accept))
        return foot

    # Where a person goes ----------------------------------------------------------------------

    @property
    def here(self) -> str:
        """The place that is shown."""
        return self._visited[-1] if self._visited else ""

    def go(self, place: str) -> None:
        """Show a page, or a place on it; the first page where there is no such place."""
        place = place if page_of(place) is not None else "start"
        if place != self.here:
            self._visited.append(place)
        self._show(place)

    def _show(self, place: str) -> None:
        page = page_of(place)
        item = self._items[page.key]
        self.topics.blockSignals(True)
        self.topics.setCurrentItem(item)
        self.topics.blockSignals(False)
        self.topics.scrollToItem(item)
        self._write(page)
        if place != page.key:
            self.text.scrollToAnchor(place)
        self.back.allow(len(self._visited) > 1, "There is no page before this one.")

    def _write(self, page: Page) -> None:
        theme = appearance.current()
        style = _STYLE.format(accent=theme.accent, muted=theme.muted, ink=theme.ink)
        self.text.document().setDefaultStyleSheet(style)
        self.text.wide = self._picture_width()
        self.text.setHtml(html(page.text))

    def _picture_width(self) -> int:
        room = self.width() - self._side() - 90
        return max(200, min(appearance.pixels(LARGEST_PICTURE), room))

    def _show_again(self) -> None:
        if self.here:
            self._show(self.here)

    def _chosen(self, item: QTreeWidgetItem | None) -> None:
        if item is not None:
            self.go(item.data(0, _KEY))

    def _follow(self, url: QUrl) -> None:
        if url.hasFragment() and not url.scheme():
            self.go(url.fragment())
        else:
            QDesktopServices.openUrl(url)

    def _go_back(self) -> None:
        if len(self._visited) > 1:
            self._visited.pop()
            self._show(self.here)

    def _take_tour(self) -> None:
        self.accept()
        self.tour_wanted.emit()

    def _narrow(self, typed: str) -> None:
        """List the pages that have every word that is typed."""
        words = typed.lower().split()
        for page in pages().values():
            text = f"{page.title} {plain(page.text)}".lower() if words else ""
            self._items[page.key].setHidden(not all(word in text for word in words))
        for page in pages().values():
            item = self._items[page.key]
            if page.parent and not item.isHidden():
                item.parent().setHidden(False)
                item.parent().setExpanded(bool(words))
