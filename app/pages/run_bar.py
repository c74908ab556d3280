"""What stands above the views of a run: its bar, the workers of a cluster, the replay."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QBrush, QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QProgressBar, QSizePolicy, QWidget

from app.look import appearance, icons
from app.text.run_head import activity_text, done_share, time_spans, workers_text
from app.views.plot.axes import small_font
from app.views.plot.items import clear_colour
from app.widgets.buttons import IconButton
from app.widgets.layouts import in_column, in_row
from app.widgets.quiet_controls import QuietSlider
from app.widgets.text_labels import ElidedLabel, plain_tooltip, show_text, wrapping_label
from core.awake_timer import AWAKE
from core.tuning.events import ClusterWorker, Event
from core.tuning.runs.state import RunState
from core.wording import count_text, format_integer

STEPS = 1000  # of the bar
THICK, GAP = 8, 4  # pixels: of the bar, which is thicker where it has spans; above its labels
PLAYING = 8_000  # milliseconds for a whole run
FASTEST = 40  # milliseconds between two positions
MAX_TILES = 12  # more workers are only counted
COLUMNS, WIDTH = 4, 150  # pixels of a tile at the usual text size


class Stopwatch:
    """Counts on from the last known seconds while it runs."""

    def __init__(self) -> None:
        self._base_seconds, self._since, self._is_running = 0.0, 0.0, False

    @property
    def seconds(self) -> float:
        return self._base_seconds + (AWAKE.seconds - self._since if self._is_running else 0.0)

    def set_seconds(self, seconds: float) -> None:
        """Never goes back while it runs."""
        # Events tell of moments before now; a clock that jumps back looks broken.
        self._base_seconds, self._since = max(seconds, self.seconds), AWAKE.seconds

    def set_running(self, is_running: bool, seconds: float) -> None:
        if is_running != self._is_running:
            self._base_seconds, self._since = seconds, AWAKE.seconds
            self._is_running = is_running


class RunBar(QProgressBar):
    """How much is done; of several models, how time is spent and kept."""

    def __init__(self) -> None:
        super().__init__()
        self.setTextVisible(False)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Progress of the run")
        self.spans: list[tuple[str, float, str]] = []  # name, seconds, label

    def show_run(self, run: RunState, state: str, elapsed: float | None) -> None:
        has_spans = run.tunes_several_models and bool(run.started.run_plan.minutes)
        self.spans = time_spans(run, elapsed) if has_spans and run.fold is None else []
        share = done_share(run, state)
        # Nobody knows how long the final fit takes: Qt's bar then runs to and fro.
        is_waiting = state == "stopping" and run.fold is None
        is_unknown = not self.spans and (is_waiting or (share is None and state == "running"))
        self.setRange(0, 0 if is_unknown else STEPS)
        self.setValue(round(STEPS * (share or 0.0)))
        self.setToolTip(", ".join(label for _, _, label in self.spans if label))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        labels = GAP + QFontMetrics(small_font()).height() + GAP if self.spans else 0
        return QSize(200, THICK + labels)

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self.spans:
            super().paintEvent(event)
            return
        theme, painter = appearance.current(), QPainter(self)
        painter.setFont(small_font())
        fills = {
            "screening": QBrush(clear_colour(theme.accent, 0.5)),
            "trials": QBrush(QColor(theme.accent)),
            "finishing": QBrush(QColor(theme.good)),
            "free": QBrush(QColor(theme.line)),
            "kept": QBrush(QColor(theme.control), Qt.BrushStyle.BDiagPattern),
        }
        scale = self.width() / (sum(seconds for _, seconds, _ in self.spans) or 1.0)
        thick, offset, labelled = THICK + GAP, 0.0, []
        for name, seconds, label in self.spans:
            box = QRectF(offset, 0, seconds * scale, thick)
            painter.fillRect(box.adjusted(0, 0, -1 if box.width() > 2 else 0, 0), fills[name])
            offset += box.width()
            labelled.append((box, label))
        painter.setPen(QColor(theme.muted))
        painted: list[QRectF] = []
        # From the ends inwards: what is kept for finishing is worth more than what is in between.
        for box, label in (*labelled[:1], *reversed(labelled[1:])):
            wide = painter.fontMetrics().horizontalAdvance(label)
            x = min(max(0.0, box.center().x() - wide / 2), self.width() - wide)
            area = QRectF(x, thick, wide + 1, self.height() - thick)
            if label and not any(area.adjusted(-8, 0, 8, 0).intersects(box) for box in painted):
                painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, label)
                painted.append(area)


class Replay(QFrame):
    """Chooses how much of a run the views show."""

    moved = Signal(int)  # how many events are shown

    def __init__(self) -> None:
        super().__init__()
        self._stops: list[int] = []  # the number of events at the end of each trial or step
        self._of_trials = True
        self.play_button = IconButton("play", "Play the run again", self.play)
        self.slider = QuietSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName("Moment of the run")
        self.slider.setMinimumHeight(28)
        self.slider.valueChanged.connect(self._on_slider_moved)
        self._position_label = ElidedLabel("", "caption")
        self._position_label.setMinimumWidth(170)
        in_row(self.play_button, (self.slider, 1), self._position_label, on=self, gap=8)
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._advance_slider)

    def load_run(self, events: Sequence[Event], stops: Sequence[int], of_trials: bool) -> None:
        """Take a run and go to its end, without `moved`."""
        self.stop()
        self._of_trials = of_trials
        # The last position shows the end of the run too, not only its last trial.
        self._stops = [*stops[:-1], len(events)] if stops else []
        with QSignalBlocker(self.slider):
            self.slider.setRange(min(1, len(self._stops)), len(self._stops))
            self.slider.setPageStep(max(1, len(self._stops) // 10))
            self.slider.setValue(len(self._stops))
        self._show_position()

    def play(self) -> None:
        """Play from here, or from the start at the end; pressed again, stop."""
        if self._timer.isActive():
            self.stop()
            return
        if self.slider.value() == self.slider.maximum():
            self.slider.setValue(self.slider.minimum())
        # A whole run takes some seconds to play, however many trials it has.
        self._timer.start(max(FASTEST, PLAYING // max(1, len(self._stops))))
        self._show_button("pause", "Stop playing")

    def stop(self) -> None:
        self._timer.stop()
        self._show_button("play", "Play the run again")

    def _show_button(self, icon: str, name: str) -> None:
        self.play_button.setIcon(icons.tinted_icon(icon, "muted"))
        self.play_button.setAccessibleName(name)
        self.play_button.setToolTip(name)

    def _advance_slider(self) -> None:
        ticks = PLAYING // FASTEST
        self.slider.setValue(self.slider.value() + max(1, len(self._stops) // ticks))
        if self.slider.value() == self.slider.maximum():
            self.stop()

    def _on_slider_moved(self, position: int) -> None:
        self._show_position()
        self.moved.emit(self._stops[position - 1] if position and self._stops else 0)

    def _show_position(self) -> None:
        position = self.slider.value()
        if not self._stops or not position:
            self._position_label.setText("")
            return
        # The first step of a learner is its start, which counts as number 0.
        start, unit = (0, "trial") if self._of_trials else (1, "step")
        count = count_text(len(self._stops) - start, unit)
        position_text = f"after {format_integer(position - start)} of {count}"
        self._position_label.setText(position_text)
        self.slider.setAccessibleDescription(position_text)


class WorkersPanel(QFrame):
    """A tile a worker, and a sentence; hidden without a cluster."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Workers of the cluster")
        self.headline = wrapping_label("", "muted")
        self.more_label = wrapping_label("", "muted")
        self.tiles: list[_Tile] = []
        inner = QWidget()
        self._grid = QGridLayout(inner)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(8)
        in_column(self.headline, inner, self.more_label, on=self, gap=4, margins=(0, 4, 0, 2))
        self.hide()

    def show_workers(self, workers: Sequence[ClusterWorker]) -> None:
        summary = workers_text(workers)
        self.headline.setText(summary)
        activities = [f"{worker.name}: {activity_text(worker)}." for worker in workers[:MAX_TILES]]
        self.setAccessibleDescription(" ".join([summary, *activities]))
        while len(self.tiles) < min(len(workers), MAX_TILES):
            # Tiles stay and are hidden: workers come and go, and a grid that is made anew flickers.
            self._grid.addWidget(tile := _Tile(), *divmod(len(self.tiles), COLUMNS))
            self.tiles.append(tile)
        for index, tile in enumerate(self.tiles):
            tile.setVisible(index < len(workers))
            if index < len(workers):
                tile.show_worker(workers[index])
        hidden_count = len(workers) - MAX_TILES
        show_text(self.more_label, f"and {hidden_count} more" if hidden_count > 0 else "")
        self.show()


class _Tile(QWidget):
    """A worker: name and computer, current trial, and load."""

    def __init__(self) -> None:
        super().__init__()
        self._name = self._activity = ""
        self._load = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_worker(self, worker: ClusterWorker) -> None:
        # Without its domain, or the computer would be what is elided; an address stays whole.
        is_address = worker.host.replace(".", "").isdigit()
        host = worker.host if is_address else worker.host.partition(".")[0]
        self._name, name = (" · ".join(filter(None, (worker.name, h))) for h in (host, worker.host))
        self._activity = activity_text(worker)
        self._load = worker.load if worker.usable else 0.0
        self.setToolTip(plain_tooltip(f"{name}: {self._activity}"))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(appearance.pixels(WIDTH), 2 * self.fontMetrics().height() + 10)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, theme, metrics = QPainter(self), appearance.current(), self.fontMetrics()
        line, width = metrics.height(), self.width()
        elide = Qt.TextElideMode.ElideMiddle
        painter.setPen(QColor(theme.ink))
        painter.drawText(0, metrics.ascent(), metrics.elidedText(self._name, elide, width))
        painter.setPen(QColor(theme.muted))
        activity = metrics.elidedText(self._activity, elide, width)
        painter.drawText(0, line + metrics.ascent(), activity)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.line))
        painter.drawRoundedRect(QRectF(0, 2 * line + 4, width, 4), 2, 2)
        painter.setBrush(QColor(theme.accent))
        painter.drawRoundedRect(QRectF(0, 2 * line + 4, width * min(1.0, self._load), 4), 2, 2)
