"""The settings dialog."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from app.dialogs.execution_settings import ExecutionSettings
from app.look import appearance
from app.preferences import preferences as settings
from app.preferences.preferences import TELLS_ENDS
from app.widgets.buttons import PlainButton, PrimaryButton
from app.widgets.quiet_controls import QuietComboBox, QuietSpinBox


class SettingsDialog(QDialog):
    """The settings; every change shows at once."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Settings")
        self.setMinimumWidth(appearance.pixels(420))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 18, 20, 16)
        layout.setSpacing(14)
        layout.addLayout(self._make_look())
        text = "Tell the desktop when a run ends and the window is not in front"
        self.tells_ends = QCheckBox(text)
        self.tells_ends.setAccessibleName(self.tells_ends.text())
        self.tells_ends.setChecked(settings.stored_flag(TELLS_ENDS, True))
        self.tells_ends.toggled.connect(lambda on: settings.remember(TELLS_ENDS, on))
        layout.addWidget(self.tells_ends)
        self.where = ExecutionSettings()
        layout.addWidget(self.where)
        layout.addStretch(1)
        layout.addLayout(self._make_foot())

    def _make_look(self) -> QGridLayout:
        self.scheme = QuietComboBox()
        words = {"system": "As the system", "light": "Light", "dark": "Dark"}
        for key in appearance.SCHEMES:
            self.scheme.addItem(words[key], key)
        self.scheme.setCurrentIndex(self.scheme.findData(settings.colour_scheme()))
        self.scheme.currentIndexChanged.connect(
            lambda: appearance.change_look(scheme=self.scheme.currentData())
        )
        self.text_size = QuietSpinBox()
        self.text_size.setRange(appearance.SMALLEST_TEXT, appearance.LARGEST_TEXT)
        self.text_size.setSingleStep(10)
        self.text_size.setSuffix(" %")
        self.text_size.setKeyboardTracking(False)
        self.text_size.setValue(appearance.text_percent())
        self.text_size.valueChanged.connect(lambda percent: appearance.change_look(percent=percent))
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(10)
        controls: dict[str, QWidget] = {"Colours": self.scheme, "Text size": self.text_size}
        for row, (name, control) in enumerate(controls.items()):
            title = QLabel(name)
            title.setBuddy(control)
            control.setAccessibleName(name)
            grid.addWidget(title, row, 0)
            grid.addWidget(control, row, 1)
        grid.setColumnStretch(1, 1)
        return grid

    def _make_foot(self) -> QHBoxLayout:
        foot = QHBoxLayout()
        self.forget = PlainButton("Forget my choices", self._forget_choices)
        self.forget.setToolTip(
            "Sizes, colours, opened files, options, time and trials are forgotten; runs are kept."
        )
        foot.addWidget(self.forget)
        foot.addStretch(1)
        foot.addWidget(PrimaryButton("Close", self.accept))
        foot.setAlignment(Qt.AlignmentFlag.AlignBottom)
        return foot

    def _forget_choices(self) -> None:
        settings.forget_all()
        self.scheme.setCurrentIndex(0)
        self.text_size.setValue(100)
        self.tells_ends.setChecked(True)
        self.where.show_choice()
        appearance.apply_look()
