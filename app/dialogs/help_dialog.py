"""The help dialog."""

from PySide6.QtCore import QSignalBlocker, QSize, Qt, QUrl, Signal
from PySide6.QtGui import (
    QColor,
    QDesktopServices,
    QImage,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLineEdit,
    QTextBrowser,
    QTextEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from app.help.help_pages import PICTURES, HelpPage, page_of, pages_by_key
from app.help.page_html import page_html, without_markup
from app.look import appearance
from app.widgets.buttons import LinkButton, PlainButton
from app.widgets.layouts import in_column, in_row
from app.widgets.text_labels import show_text, wrapping_label

SIZE = (980, 680)
LARGEST_PICTURE = 640  # pixels wide
_KEY = Qt.ItemDataRole.UserRole


class _Pages(QTextBrowser):
    """A browser that scales pictures smoothly."""

    wide = LARGEST_PICTURE

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        path = PICTURES / QUrl(name).fileName()
        # Nothing is loaded from elsewhere: neither the network nor other files.
        if kind != QTextDocument.ResourceType.ImageResource.value or not path.is_file():
            return None
        ratio = self.devicePixelRatioF()
        # The browser would scale a picture by leaving out pixels, and lines of plots with them.
        smooth = Qt.TransformationMode.SmoothTransformation
        image = QImage(str(path)).scaledToWidth(round(self.wide * ratio), smooth)
        image.setDevicePixelRatio(ratio)
        return image


class HelpDialog(QDialog):
    """Pages and a search at the left, a page's text at the right."""

    tour_wanted = Signal()

    def __init__(self, anchor: str = "start", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Help")
        self._resize_to_parent(parent)
        self._visited: list[str] = []
        self._items: dict[str, QTreeWidgetItem] = {}
        self._hits: list[str] = []  # keys of the pages that have all words searched
        self.search = self._make_search()
        self.nothing = wrapping_label("", "muted")
        self.nothing.hide()
        self.topics = self._make_topics()
        self.text = self._make_text()
        columns = in_row(in_column(self.search, self.nothing, (self.topics, 1)), (self.text, 1))
        in_column((columns, 1), self._make_foot(), on=self, margins=(9, 9, 9, 9))
        appearance.notifier.themed.connect(self._show_again)
        self.go_to(anchor)

    def _resize_to_parent(self, parent: QWidget | None) -> None:
        width, height = map(appearance.pixels, SIZE)
        if parent is not None:
            room = parent.window().size()
            # A dialog that is larger than its window cannot be moved into view everywhere.
            width, height = min(width, room.width() - 40), min(height, room.height() - 40)
        self.resize(width, height)

    def _make_search(self) -> QLineEdit:
        search = QLineEdit(placeholderText="Search the help")
        search.setAccessibleName("Search the help")
        search.setFixedWidth(self._sidebar_width())
        search.textChanged.connect(self._filter_topics)
        search.returnPressed.connect(self._show_first_hit)
        return search

    def _sidebar_width(self) -> int:
        return min(appearance.pixels(240), self.width() * 34 // 100)

    def _make_topics(self) -> QTreeWidget:
        tree = QTreeWidget()
        tree.setAccessibleName("Topics")
        tree.setHeaderHidden(True)
        tree.setFixedWidth(self._sidebar_width())
        tree.setIndentation(14)
        high = QSize(0, self.fontMetrics().height() + 14)
        for page in pages_by_key().values():
            entry = QTreeWidgetItem([page.title])
            entry.setData(0, _KEY, page.key)
            entry.setSizeHint(0, high)
            entry.setToolTip(0, page.title)
            self._items[page.key] = entry
            if page.parent in self._items:
                self._items[page.parent].addChild(entry)
            else:
                tree.addTopLevelItem(entry)
        tree.currentItemChanged.connect(self._on_topic_chosen)
        return tree

    def _make_text(self) -> _Pages:
        browser = _Pages()
        browser.setAccessibleName("Help text")
        browser.setOpenLinks(False)
        browser.document().setDocumentMargin(16)
        browser.anchorClicked.connect(self._open_link)
        return browser

    def _make_foot(self) -> QHBoxLayout:
        self.back = LinkButton("Back", self._go_back)
        self.tour = LinkButton("Take the tour", self._take_tour)
        return in_row(self.back, self.tour, 1, PlainButton("Close", self.accept))

    # Navigation -------------------------------------------------------------------------------

    @property
    def current_anchor(self) -> str:
        return self._visited[-1] if self._visited else ""

    def go_to(self, anchor: str) -> None:
        """The first page for an unknown one."""
        anchor = anchor if page_of(anchor) is not None else "start"
        if anchor != self.current_anchor:
            self._visited.append(anchor)
        self._show_anchor(anchor)

    def _show_anchor(self, anchor: str) -> None:
        page = page_of(anchor)
        if page is None:
            return
        entry = self._items[page.key]
        # Choosing the entry is what a person does to come here as well.
        with QSignalBlocker(self.topics):
            self.topics.setCurrentItem(entry)
        self.topics.scrollToItem(entry)
        self._write_page(page)
        if anchor != page.key:
            self.text.scrollToAnchor(anchor)
        self.back.set_allowed(len(self._visited) > 1, "There is no page before this one.")

    def _write_page(self, page: HelpPage) -> None:
        theme = appearance.current()
        colours = {"a": theme.accent, "th": theme.muted, "code, pre": theme.ink}
        style = " ".join(f"{tags} {{ color: {colour}; }}" for tags, colour in colours.items())
        self.text.document().setDefaultStyleSheet(style)
        room = self.width() - self._sidebar_width() - 90
        self.text.wide = max(200, min(appearance.pixels(LARGEST_PICTURE), room))
        self.text.setHtml(page_html(page.text))
        self._mark_words()

    def _mark_words(self) -> None:
        theme, document, marks = appearance.current(), self.text.document(), []
        style = QTextCharFormat()
        style.setBackground(QColor(theme.warning))
        style.setForeground(QColor(theme.paper))
        for word in self.search.text().split():
            cursor = document.find(word)
            while not cursor.isNull():
                mark = QTextEdit.ExtraSelection()
                mark.cursor, mark.format = cursor, style
                marks.append(mark)
                cursor = document.find(word, cursor)
        self.text.setExtraSelections(marks)
        if marks:
            first_cursor = QTextCursor(marks[0].cursor)
            first_cursor.clearSelection()
            self.text.setTextCursor(first_cursor)

    def _show_again(self) -> None:
        if self.current_anchor:
            self._show_anchor(self.current_anchor)

    def _on_topic_chosen(self, entry: QTreeWidgetItem | None) -> None:
        if entry is not None:
            self.go_to(entry.data(0, _KEY))

    def _open_link(self, url: QUrl) -> None:
        if url.hasFragment() and not url.scheme():
            self.go_to(url.fragment())
        else:
            QDesktopServices.openUrl(url)

    def _go_back(self) -> None:
        if len(self._visited) > 1:
            self._visited.pop()
            self._show_anchor(self.current_anchor)

    def _take_tour(self) -> None:
        self.accept()
        self.tour_wanted.emit()

    def _show_first_hit(self) -> None:
        if self._hits:
            self.go_to(self._hits[0])

    def _filter_topics(self, typed: str) -> None:
        words = typed.lower().split()
        muted = QColor(appearance.current().muted)  # of pages that only lead to a hit
        self._hits = []
        for page in pages_by_key().values():
            # Without words all pages match, and none need be parsed.
            text = f"{page.title} {without_markup(page.text)}".lower() if words else ""
            is_hit = all(word in text for word in words)
            entry = self._items[page.key]
            entry.setHidden(not is_hit)
            entry.setData(0, Qt.ItemDataRole.ForegroundRole, None if is_hit else muted)
            if is_hit:
                self._hits.append(page.key)
        show_text(self.nothing, "" if self._hits else f"No page has “{typed.strip()}”.")
        self._mark_words()
        for page in pages_by_key().values():
            entry = self._items[page.key]
            if page.parent and not entry.isHidden():
                parent_item = self._items[page.parent]
                # A page that matches is reached through the page above it.
                parent_item.setHidden(False)
                parent_item.setExpanded(bool(words))
