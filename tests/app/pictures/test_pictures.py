"""The pages as pictures: a layout that breaks fails, with both pictures beside the message.

The pictures are kept at half size and compared with a tolerance, drawn with a font of their own, so
that they are the same on every machine. After a change that is meant, renew them and look at them:

    TUNESCOPE_RENEW_PICTURES=1 .venv/bin/python -m pytest tests/app/pictures
"""

from __future__ import annotations

import itertools
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QLocale, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QCursor, QFont, QFontDatabase, QFontMetrics, QImage
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QLabel,
    QScrollArea,
    QTableView,
    QWidget,
)

from app.look import appearance
from app.pages.history_page import HistoryTable
from app.pages.result_cards import APART, BESIDE, LEGEND, SQUARE, AnswerArea
from app.views.plot.axes import small_font
from app.views.plot.labels import Marker
from app.views.plot.view import View
from app.views.result_views import ModelsView
from app.window.window import Window
from app.worker.messages import (
    DescribeModel,
    ExportFormat,
    ModelDescribed,
    PredictRow,
    RowPredicted,
    RowsPredicted,
)
from core.datasets.task import Task
from core.estimators.registry import MODELS
from core.export.using.row_answers import ModelForm, RowPrediction
from core.json_reading import read_as
from core.space import Axis
from core.tuning.events import (
    DatasetFacts,
    PenaltyStep,
    Progress,
    RunFinished,
    RunStarted,
    TrialFailed,
    TrialFinished,
    TrialStarted,
)
from core.tuning.plan import DataPlan, Plan
from core.tuning.results.training_columns import TrainingColumn
from core.tuning.run_results import Results

HERE = Path(__file__).parent
RENEW = os.environ.get("TUNESCOPE_RENEW_PICTURES") == "1"
SIZE, KEPT = QSize(1280, 800), QSize(640, 400)
GREY = QImage.Format.Format_Grayscale8
SIZES = (1024, 700), (1280, 800), (1920, 1080)  # of windows, in pixels
TOLD_APART = 24  # of 255, of a pixel at half size: more than another way to draw an edge
MOST = 0.002  # share of the pixels that may differ: 512 of them, some ten letters

SPACE = [
    Axis("C", "Cost of a wrong row", "float", 0.001, 1000.0, log=True),
    Axis("gamma", "Reach of a row", "float", 0.0001, 10.0, log=True),
]
DATASET = DatasetFacts(
    name="clinic",
    task=Task.BINARY,
    rows=300,
    features=5,
    train_rows=219,
    test_rows=81,
    classes=["no", "yes"],
    fingerprint="f",
)
RESULTS = read_as(Results, {
    "setting": {"C": 3.0, "gamma": 0.1}, "default_setting": {"C": 1.0, "gamma": 0.2},
    "metric": "accuracy", "maximize": True, "validation": {"accuracy": 0.889},
    "groups": {}, "switched_off": [], "test": {"accuracy": 0.877, "auc": 0.93},
    "default_test": {"accuracy": 0.84, "auc": 0.9}, "test_interval": [0.8, 0.94],
    "default_interval": [0.75, 0.9], "flattery": 0.012, "calibration": None, "remarks": [],
    "gain": {"metric": "accuracy", "difference": 0.037, "low": 0.004, "high": 0.07, "real": True},
    "right": {"tuned": 71, "default": 68, "rows": 81}, "fits": 60, "trials": 11, "failed": 1,
    "confusion": {"labels": ["no", "yes"], "tuned": [[40, 5], [5, 31]],
                  "default": [[38, 7], [6, 30]]},
    "seconds": 16.0, "stopped_because": "the budget was spent", "seed": 0,
})  # fmt: skip
OFFERED = [
    ExportFormat(
        name, title, "What it is for, in a sentence or two.", f".{name}", "table", warning
    )
    for name, title, warning in (
        ("skops", "Model", ""), ("joblib", "Model as joblib", "Open only files that you trust."),
        ("json", "Numbers", ""), ("html", "Report", ""),
    )
]  # fmt: skip


def trials(ended=False):
    """A random search of twelve trials, one of which failed."""
    best = 0.0
    plan = Plan(DataPlan("sample:clinic"), "svm", "random", trials=20).as_dict()
    yield RunStarted(run="one", plan=plan, dataset=DATASET, space=SPACE, total=20)
    for n in range(12):
        setting = {"C": 10.0 ** (n % 7 - 3), "gamma": 10.0 ** (n % 5 - 4)}
        reason = "default" if n == 0 else "random"
        yield TrialStarted(seconds=n, number=n, setting=setting, reason=reason)
        if n == 5:
            yield TrialFailed(seconds=n + 1, number=n, setting=setting, reason="It is singular.")
        else:
            score = 0.80 + 0.01 * (n * 7 % 9)
            best = max(best, score)
            yield TrialFinished(seconds=n + 1, number=n, setting=setting, score=score, fits=5,
                                fold_scores=[score] * 5, took=1.0)  # fmt: skip
        yield Progress(seconds=n + 1, done=n + 1, total=20, best=best, default=0.8)
    if ended:
        yield RunFinished(seconds=16.0, because="done", results=RESULTS)


def penalties():
    """A learner of four penalties after eight steps."""
    plan = Plan(DataPlan("sample:clinic"), "logistic", "mm").as_dict()
    names = ("age", "blood pressure", "ward", "noise")
    groups = dict.fromkeys(names, 2)
    yield RunStarted(run="two", plan=plan, dataset=DATASET, kind="penalties", groups=groups,
                     total=30, judged="training")  # fmt: skip
    for n in range(8):
        C = {name: 10.0 ** ((place - 1) * n / 4) for place, name in enumerate(names)}
        norms = {name: 1.0 / (1 + place * n) for place, name in enumerate(names)}
        yield PenaltyStep(seconds=n, step=n, objective=200 - 10 * n + n * n, loss=120 - n,
                          penalties=C, norms=norms, fits=n + 1, iterations=5)  # fmt: skip


SHOWN = {
    "start": ("start", ()),
    "data": ("data", ()),
    "model": ("model", ()),
    "strategy": ("strategy", (), "logistic"),
    "several": ("strategy", ()),
    "ready": ("tune", ()),
    "tune": ("tune", tuple(trials())),
    "penalties": ("tune", tuple(penalties())),
    "results": ("results", tuple(trials(ended=True))),
    "export": ("export", tuple(trials(ended=True))),
    "use": ("use", tuple(trials(ended=True))),
    "history": ("history", ()),
}


FORM = ModelForm(
    name="clinic", target="came_back", task="binary", known=True, rows=420, left_out=0,
    interval=None, refitted=False, fewest=20,
    fields=(
        TrainingColumn("age", "number", True, low=2.0, high=98.0, typical=51.0, whole=True),
        TrainingColumn("waiting_minutes", "number", True, low=0.6, high=119.2, typical=23.5),
        TrainingColumn("ward", "choice", False, typical="eyes", choices=("eyes", "ears")),
        TrainingColumn("visit_date", "date", False, typical="2022-12-14"),
    ),
)  # fmt: skip
SAID = RowPrediction("yes", [("yes", 0.57), ("no", 0.43)], None, None, "", [])
USED = RowsPredicted(
    ["age", "prediction", "probability of no", "probability of yes", "unlike the training rows"],
    [["30", "no", 0.81, 0.19, ""], ["130", "yes", 0.02, 0.98, "age is outside 2 to 98"]],
    2, 1, "", ("The column “zip” is ignored: the model was not trained on it.",), 1,
)  # fmt: skip
OF_SEVERAL = {"models": "tune", "candidates": "results"}  # pages of a run of several models


@pytest.fixture(scope="module")
def family(qapp):
    """The family of the pictures' own font."""
    numbers = [
        QFontDatabase.addApplicationFont(str(HERE / f"{f}.ttf")) for f in ("Regular", "Bold")
    ]
    assert -1 not in numbers
    yield QFontDatabase.applicationFontFamilies(numbers[0])[0]
    for number in numbers:
        QFontDatabase.removeApplicationFont(number)


@pytest.fixture
def drawn(family, look, qapp, monkeypatch):
    """Everything that differs between machines held still: font, locale, the blinking cursor."""

    def font(app: QApplication) -> QFont:
        made = QFont([family])
        made.setPointSizeF(appearance.points(9.2))
        made.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
        return made

    before, flash = QLocale(), qapp.cursorFlashTime()
    monkeypatch.setattr(appearance, "_base_font", font)
    QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedStates))
    qapp.setCursorFlashTime(0)
    yield look
    monkeypatch.undo()
    qapp.setCursorFlashTime(flash)
    QLocale.setDefault(before)
    look.change_look(scheme="light")


def grabbed(window: Window) -> QImage:
    ways = Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
    return window.grab().toImage().scaled(KEPT, *ways).convertToFormat(GREY)


def settled(window: Window, qtbot) -> QImage:
    """The window once its views, which draw on timers, have drawn, and nothing changes any more."""

    def waiting() -> bool:
        views = [view for view in window.findChildren(View) if view.isVisible()]
        return any(view.dirty and not view.visibleRegion().isEmpty() for view in views)

    qtbot.wait(150)
    before = grabbed(window)
    for _ in range(50):
        qtbot.wait(150)
        now = grabbed(window)
        if not waiting() and differing(before, now) == 0.0:
            return now
        before = now
    raise AssertionError("the page never stops changing")


def greys(picture: QImage) -> np.ndarray:
    """Shape (height, width), 0 to 255."""
    rows = np.frombuffer(picture.constBits(), np.uint8).reshape(picture.height(), -1)
    return rows[:, : picture.width()].astype(int)


def differing(one: QImage, other: QImage) -> float:
    """The share of pixels that differ."""
    return float((np.abs(greys(one) - greys(other)) > TOLD_APART).mean())


@pytest.fixture
def window(drawn, with_data, qtbot, monkeypatch, tmp_path):
    """Makes a window of the pictures' size, showing the events of a run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TUNESCOPE_HISTORY", "history.sqlite3")  # as the page says it
    # What it says of models with packages of their own depends on what is installed.
    needy = {name: model.title for name, model in MODELS.items() if model.extra}
    models = [model for model in with_data.advice["models"] if model["name"] not in needy]
    tries = [title for title in models[0]["tries"] if title not in needy.values()]
    models[0] = replace(models[0], tries=tries, lacking=[])
    with_data.advice = replace(with_data.advice, models=models)
    with_data.exporters = OFFERED

    def make(page: str, events: tuple = (), model: str = "") -> Window:
        if page == "start":
            with_data.summary = None
        if model:
            with_data.choose_model(model)
        if events:
            with_data._show_run(list(events), None)
        made = Window(with_data)
        qtbot.addWidget(made)
        made.resize(SIZE)
        QCursor.setPos(made.mapToGlobal(QPoint(2, 2)))  # on no card: others look ready under it
        made.show()
        made.show_page(page)
        if page == "use":
            with_data.prediction.described.emit(
                ModelDescribed(DescribeModel("", "", False), form=FORM)
            )
            with_data.prediction.row_predicted.emit(
                RowPredicted(PredictRow("", "", False, made.pages[page].row_form.values), SAID)
            )
            with_data.rows_predicted.emit(USED)
        made.setFocus()
        return made

    return make


@pytest.mark.parametrize("name", [*SHOWN, *OF_SEVERAL])
def test_a_page_looks_as_it_did(window, drawn, qtbot, tmp_path, race, name):
    made = window(*(SHOWN.get(name) or (OF_SEVERAL[name], tuple(race.run()))))
    for scheme in ("light", "dark") if name == "results" else ("light",):
        drawn.change_look(scheme=scheme)
        now, kept = settled(made, qtbot), HERE / f"{name}-{scheme}.png"
        if RENEW:
            assert now.save(str(kept))
        golden = QImage(str(kept)).convertToFormat(GREY)
        assert golden.size() == KEPT, f"{kept} is missing; see the head of this file"
        share, seen = differing(now, golden), tmp_path / kept.name
        now.save(str(seen))
        assert share <= MOST, f"{share:.2%} of the page differ: compare {seen} with {kept}"


def test_a_card_that_is_gone_or_moved_is_seen(window, qtbot):
    made = window(*SHOWN["export"])
    qtbot.wait(50)
    usual, page = grabbed(made), made.pages["export"]
    card, edges = page.cards["html"], page.body.contentsMargins()
    moved = (edges.left() + 6, edges.top(), edges.right(), edges.bottom())
    for change, is_seen in (
        (card.hide, True),
        (card.show, False),
        (lambda: page.body.setContentsMargins(*moved), True),
    ):
        change()
        qtbot.wait(50)
        assert (differing(usual, grabbed(made)) > MOST) is is_seen


def cut_words(window: Window) -> list[str]:
    """Labels and buttons without room for their words, and bars that scroll nothing."""
    cut = []
    for control in (*window.findChildren(QLabel), *window.findChildren(QAbstractButton)):
        if control.visibleRegion().isEmpty() or not control.text().strip():
            continue
        is_wrapped = isinstance(control, QLabel) and control.wordWrap()
        width, height = control.sizeHint().width(), control.height()
        if is_wrapped:
            width = control.minimumSizeHint().width()
            height = control.heightForWidth(control.width())
        has_tip = bool(control.toolTip()) and not is_wrapped
        area = control.parentWidget()
        while not isinstance(area, QScrollArea) and area is not window:
            area = area.parentWidget()
        edge = control.mapTo(area, control.rect().topRight()).x()
        is_cut = (width > control.width() + 1 and not has_tip) or height > control.height() + 1
        if is_cut or edge > area.width():
            cut.append(f"{type(control).__name__} “{control.text()[:60]}”")
    for table in window.findChildren(QTableView):
        bar, widths = table.horizontalScrollBar(), table.horizontalHeader().length()
        if bar.isVisible() and widths <= table.viewport().width():
            cut.append(f"the bar of {table.accessibleName()}")
        columns = range(table.model().columnCount()) if isinstance(table, HistoryTable) else ()
        for column, wide in zip(columns, table.wanted_widths() if columns else (), strict=True):
            if table.columnWidth(column) < wide:
                cut.append(f"column {column} of {table.accessibleName()}")
    return cut + cut_drawings(window)


def cut_drawings(window: Window) -> list[str]:
    """Words of a drawing beyond its edge, and models that lie on each other."""
    cut = []
    for area in filter(QWidget.isVisible, window.findChildren(AnswerArea)):
        squares = 2 * (appearance.pixels(SQUARE) + BESIDE) + APART - BESIDE
        needed = squares + sum(map(QFontMetrics(small_font()).horizontalAdvance, LEGEND))
        cut += [f"the legend of {area.accessibleName()}"] if area.width() < needed else []
    for view in filter(QWidget.isVisible, window.findChildren(ModelsView)):
        words = next(m.label for m in view.plot.vb.addedItems if isinstance(m, Marker))
        if not (words.isNull() or QRectF(view.canvas.rect()).contains(words)):
            cut.append("the words of the dashed line")
        rows = sorted(view.buttons.values(), key=lambda button: button.parent().y())
        boxes = [button.parent().geometry() for button in rows]
        cut += ["models" for a, b in itertools.pairwise(boxes) if a.bottom() >= b.top()]
    return cut


def crooked_heads(window: Window) -> list[str]:
    """Heads of tables that stand on another side than the cells below them."""
    role, sides = Qt.ItemDataRole.TextAlignmentRole, Qt.AlignmentFlag.AlignHorizontal_Mask
    heads = []
    for table in window.findChildren(QTableView):
        cells, usual = table.model(), table.horizontalHeader().defaultAlignment()
        for column in range(cells.columnCount()):
            head = cells.headerData(column, Qt.Orientation.Horizontal, role) or usual
            indexes = [cells.index(row, column) for row in range(min(cells.rowCount(), 20))]
            of_cells = [index.data(role) or Qt.AlignmentFlag.AlignLeft for index in indexes]
            if any((Qt.AlignmentFlag(side) ^ Qt.AlignmentFlag(head)) & sides for side in of_cells):
                heads.append(f"{table.accessibleName()}, {column}")
    return heads


@pytest.mark.parametrize("name", [*SHOWN, "runs", "candidates"])
def test_heads_are_over_their_cells_and_no_word_is_cut_at_any_size(
    window, drawn, qtbot, race, name
):
    results = race.results(baseline_test={"accuracy": 0.79})  # amid the models
    several = "results", (*race.run(ends=False), RunFinished(results=results))
    made = window(*(several if name == "candidates" else SHOWN.get(name, ("runs",))))
    assert crooked_heads(made) == []
    for percent in (100, 150):
        drawn.change_look(percent=percent)
        for size in SIZES[: 1 if name == "candidates" else None]:
            made.resize(*size)
            qtbot.wait(60)
            assert cut_words(made) == [], (percent, size)
