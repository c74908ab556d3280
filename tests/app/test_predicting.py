"""A model file that is given to the window: it asks before it opens one that can run code."""

from __future__ import annotations

from pathlib import Path

import joblib
import pandas as pd
import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QMessageBox
from sklearn.linear_model import LogisticRegression

from app.window.window import Window
from app.worker.engine import Engine
from app.worker.messages import DescribeModel, Message, Predict, PredictionsSaved
from core.errors import UnusableError
from core.export.prediction import NOT_KNOWN


@pytest.fixture
def window(still, qtbot, monkeypatch):
    made = Window(still)
    qtbot.addWidget(made)
    made.show()
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: ("/rows.csv", ""))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: ("/out.csv", ""))
    return made


def answering(title, seen):
    """Press the button of that title in the dialog that opens next."""

    def press():
        (box,) = [w for w in QApplication.topLevelWidgets() if w.objectName() == "trust"]
        seen.extend(label.text() for label in box.findChildren(QLabel))
        seen.append(box.defaultButton().text())
        next(button for button in box.buttons() if button.text() == title).click()

    QTimer.singleShot(0, press)


def wanted(still):
    """The model files that the worker was asked to describe."""
    return [one for one in still.worker.asked if isinstance(one, DescribeModel) and one.model]


def test_what_can_run_code_is_opened_only_where_it_is_trusted(window, still):
    said: list[str] = []
    answering("Do not open", said)
    still.open_file("/folder/<b>model.joblib")
    assert wanted(still) == []
    text = " ".join(said)
    assert "<b>model.joblib" in text
    assert "can run any code that is in it" in text
    assert "read, change or delete whatever you can" in text
    assert said[-1] == "Do not open"
    answering("I trust it: open", said)
    still.open_file("/folder/<b>model.joblib")
    assert wanted(still)[-1] == DescribeModel("", "/folder/<b>model.joblib", True)


def test_what_runs_no_code_is_opened_without_a_question(window, still):
    still.open_file("/folder/model.skops")
    assert wanted(still)[-1] == DescribeModel("", "/folder/model.skops", False)
    assert window.here == "use"
    still.save_predictions("/out.csv")
    still.worker.arrived.emit([Message(still._requests.last, PredictionsSaved("/out.csv", 3))])
    (box,) = [w for w in QApplication.topLevelWidgets() if isinstance(w, QMessageBox)]
    assert (box.text(), box.informativeText()) == ("3 predictions saved.", "/out.csv")
    box.close()


def test_the_worker_opens_nothing_that_is_not_trusted(tmp_path: Path):
    class Executes:
        def __reduce__(self):
            return Path.mkdir, (tmp_path / "executed",)

    joblib.dump(Executes(), tmp_path / "model.joblib")
    (tmp_path / "new.csv").write_text("a\n1\n")
    files = [str(tmp_path / name) for name in ("model.joblib", "new.csv", "out.csv")]
    with pytest.raises(UnusableError, match="can run any code"):
        Engine().answer(Predict(*files))
    assert not (tmp_path / "executed").exists()


def test_the_worker_writes_predictions(tmp_path: Path):
    rows = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0]})
    model = LogisticRegression().fit(rows, ["no", "no", "yes", "yes"])
    card = {"features": ["a"], "columns": ["a", "y"], "text": [], "target": "y", "format": "csv"}
    model.tunescope_ = {**card, "read_csv": {"sep": ","}, "libsvm": {}}
    joblib.dump(model, tmp_path / "model.joblib")
    rows.to_csv(tmp_path / "new.csv", index=False)
    files = [str(tmp_path / name) for name in ("model.joblib", "new.csv", "out.csv")]
    saved = Engine().answer(Predict(*files, trust=True))
    assert (saved.path, saved.count, saved.sentences) == (files[2], 4, (NOT_KNOWN,))
    assert pd.read_csv(files[2])["prediction"].tolist() == ["no", "no", "yes", "yes"]
