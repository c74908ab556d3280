"""Light and dark: Fusion, a palette and a stylesheet from the design tokens."""

import sys
from dataclasses import asdict
from pathlib import Path
from string import Template

from PySide6.QtCore import QLocale, QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontInfo, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from app.preferences import preferences as settings
from core.wording import use_marks
from resources.theme import (
    DARK,
    FONT_BODY,
    FONT_CARD,
    FONT_HEADING,
    FONT_SMALL,
    LIGHT,
    RADIUS,
    TARGET,
    Theme,
)

SMALLEST_TEXT, LARGEST_TEXT = 100, 200  # percent
RESOURCES = Path(__file__).parents[2] / "resources"


class ThemeNotifier(QObject):
    """Signals changed colours or text size."""

    themed = Signal(object)  # the Theme, by which custom painting is repainted


class _State:
    theme: Theme = LIGHT
    text_percent: int = 100
    follows: bool = False


notifier = ThemeNotifier()
_state = _State()


def current() -> Theme:
    """The current design tokens."""
    return _state.theme


def text_percent() -> int:
    """The text size in percent of the default."""
    return _state.text_percent


def points(size: float) -> float:
    """A font size of the theme, in points, at the current text size."""
    return size * _state.text_percent / 100


def pixels(length: float) -> int:
    """A length that grows with the text, in pixels."""
    return round(length * _state.text_percent / 100)


def apply_locale() -> None:
    """Write numbers as the system does; digits are grouped (3,000) where it has no language."""
    # The C locale groups no digits, and is what a system without a language has.
    if QLocale().language() == QLocale.Language.C:
        grouped = QLocale.c()
        grouped.setNumberOptions(QLocale.NumberOption.DefaultNumberOptions)
        QLocale.setDefault(grouped)
    use_marks(_locale_marks)


def _locale_marks() -> tuple[str, str]:
    locale = QLocale()
    omits = bool(locale.numberOptions() & QLocale.NumberOption.OmitGroupSeparator)
    return locale.decimalPoint(), "" if omits else locale.groupSeparator()


def application() -> QApplication:
    """The application of this process."""
    app = QApplication.instance()
    return app if isinstance(app, QApplication) else QApplication(sys.argv[:1])


def start(app: QApplication) -> None:
    """Apply the stored look, and follow changes of the system."""
    # The one style that draws alike on every system and follows a palette.
    app.setStyle("Fusion")
    apply_locale()
    # Once in a process: tests and the self-test start the look again.
    if not _state.follows:
        QGuiApplication.styleHints().colorSchemeChanged.connect(_system_changed)
        _state.follows = True
    apply_look()


def apply_look() -> None:
    """Apply the stored scheme and text size everywhere."""
    app = application()
    scheme = settings.colour_scheme()
    is_system_dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
    is_dark = scheme == "dark" or (scheme == "system" and is_system_dark)
    _state.theme = DARK if is_dark else LIGHT
    _state.text_percent = settings.text_percent()
    # Qt styles every widget anew, hidden ones too, which takes a fifth of a second.
    app.setOverrideCursor(Qt.CursorShape.WaitCursor)
    try:
        app.setFont(_base_font(app))
        app.setPalette(palette(_state.theme))
        # Qt takes three times as long to replace a style sheet as to remove it and set another.
        app.setStyleSheet("")
        app.setStyleSheet(stylesheet(_state.theme))
        notifier.themed.emit(_state.theme)
    finally:
        app.restoreOverrideCursor()


def change_look(*, scheme: str | None = None, percent: int | None = None) -> None:
    """Change and store the scheme or the text size."""
    if scheme is not None:
        settings.remember(settings.SCHEME, scheme)
    if percent is not None:
        settings.remember(settings.TEXT_PERCENT, percent)
    apply_look()


def _system_changed() -> None:
    if settings.colour_scheme() == "system":
        apply_look()


def _base_font(app: QApplication) -> QFont:
    system = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    font = QFont(app.font())
    font.setFamilies(["Inter", "Segoe UI", "Noto Sans", system.family(), "DejaVu Sans"])
    # DejaVu draws about a tenth wider and taller than the others at the same size.
    is_wide = QFontInfo(font).family().startswith(("DejaVu", "Verdana"))
    font.setPointSizeF(points(FONT_BODY) * (0.92 if is_wide else 1.0))
    return font


def palette(theme: Theme) -> QPalette:
    """Qt's palette from the tokens."""
    role = QPalette.ColorRole
    texts = (role.WindowText, role.Text, role.ButtonText)
    colours = (
        (theme.canvas, (role.Window, role.AlternateBase)),
        (theme.paper, (role.Base, role.Button, role.ToolTipBase, role.Light)),
        (theme.ink, (*texts, role.ToolTipText)),
        (theme.muted, (role.PlaceholderText,)),
        (theme.bad, (role.BrightText,)),
        (theme.accent, (role.Highlight, role.Accent, role.Link, role.LinkVisited)),
        (theme.accent_text, (role.HighlightedText,)),
        (theme.line, (role.Midlight,)),
        (theme.control, (role.Mid, role.Dark, role.Shadow)),
    )
    disabled = ((theme.muted, (*texts, role.HighlightedText)), (theme.line, (role.Highlight,)))
    qt_palette, groups = QPalette(), QPalette.ColorGroup
    for group, colours_of_group in ((groups.All, colours), (groups.Disabled, disabled)):
        for colour, names in colours_of_group:
            for name in names:
                qt_palette.setColor(group, name, QColor(colour))
    return qt_palette


def stylesheet(theme: Theme) -> str:
    """resources/style.qss with the tokens substituted."""
    template = Template((RESOURCES / "style.qss").read_text(encoding="utf-8"))
    sizes = {
        "body": f"{points(FONT_BODY):g}pt",
        "small": f"{points(FONT_SMALL):g}pt",
        "heading": f"{points(FONT_HEADING):g}pt",
        "cardtitle": f"{points(FONT_CARD):g}pt",
        "target": str(TARGET),
        "inner": str(TARGET - 4),
        "radius": str(RADIUS),
        "icons": (RESOURCES / "icons").as_posix(),
    }
    colours = {name: value for name, value in asdict(theme).items() if isinstance(value, str)}
    # By $names: braces are the stylesheet's own.
    return template.substitute(colours | sizes)
