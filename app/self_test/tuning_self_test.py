"""Steps of the self-test in a window with a worker, without a display."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QtMsgType, qInstallMessageHandler

from app.look import appearance
from app.preferences import preferences
from app.self_test import sample_files
from app.self_test.run_self_test import StepFailedError
from app.session.session import Session
from app.window.window import Window
from core.datasets.task import Task

if TYPE_CHECKING:
    import pandas as pd

    from app.self_test.run_self_test import StepRunner


# Printed by Qt's platform without a display.
OF_NO_DISPLAY = "This plugin does not support propagateSizeHints"
PATIENCE = 300.0  # seconds; the first run of sequences compiles its loops


def _print_qt_message(_kind: QtMsgType, _context: object, message: str) -> None:
    if not message.startswith(OF_NO_DISPLAY):
        sys.stderr.write(f"{message}\n")


class ProgramUnderTest:
    """A window with a worker in one folder; `problems` since the last action."""

    def __init__(self, folder: Path) -> None:
        self._handler = qInstallMessageHandler(_print_qt_message)
        preferences.use_file(folder / "settings.ini")
        self.app = appearance.application()
        appearance.start(self.app)
        self.session = Session(runs_root=folder / "runs")
        self.problems: list[str] = []
        self.session.problem.connect(self.problems.append)
        self.window = Window(self.session)
        self.window.show()

    def close(self) -> None:
        self.window.close()
        self.session.shutdown()
        self.window.deleteLater()
        preferences.use_file(None)
        qInstallMessageHandler(self._handler)

    def act_and_wait(self, act: Callable[[], None], done: Callable[[], object]) -> None:
        """StepFailedError where a problem is reported, or nothing happens."""
        self.problems.clear()
        act()
        self.wait_until(done)

    def wait_until(self, done: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE
        while not done():
            self.app.processEvents()
            if self.problems:
                raise StepFailedError(f"{' '.join(self.problems)} {self.session.details}".strip())
            if time.monotonic() > end:
                raise StepFailedError(f"nothing happened in {PATIENCE:.0f} seconds")
            time.sleep(0.005)

    def open_data(self, path: Path | str) -> None:
        name = str(path).removeprefix("sample:")
        is_sample = name != str(path)
        open_it = self.session.open_sample if is_sample else self.session.open_file
        self.act_and_wait(lambda: open_it(name), lambda: self._is_open(str(path)))

    def _is_open(self, name: str) -> bool:
        data, plan = self.session.data, self.session.plan
        return data is not None and plan is not None and data.file == plan.data.file == name

    def tune_to_end(self, model: str, strategy: str, trials: int | None) -> None:
        session = self.session
        session.choose_model(model)
        session.choose_strategy(strategy)
        session.set_plan(trials=trials, minutes=None)
        self.act_and_wait(session.start, lambda: session.state == "finished")

    def export_run(self, format: str, path: Path) -> None:
        done: list[str] = []
        self.session.exported.connect(done.append)
        self.act_and_wait(lambda: self.session.export_model(format, path), lambda: done)
        self.session.exported.disconnect(done.append)
        if not (any(path.iterdir()) if path.is_dir() else path.exists() and path.stat().st_size):
            raise StepFailedError(f"{path.name} was not written")


# {strategy: (model, trials)}
RUNS = {"mm": ("logistic", None), "gp": ("svm", 6), "eb-hyp": ("logistic", 12)}
CLOSE = {".onnx": 1e-4}  # ONNX sums in single precision
EXACT = 1e-9


class TuningSelfTest:
    """These steps, in one window."""

    def __init__(self, program: ProgramUnderTest, folder: Path, steps: StepRunner) -> None:
        self._program, self._folder, self._steps = program, folder, steps
        self._table = sample_files.sample_table()

    def run_all(self, cases: Sequence[str], formats: Sequence[str]) -> None:
        run_step = self._steps.run_step
        wait, session = self._program.wait_until, self._program.session
        run_step("the worker is ready", lambda: wait(lambda: session.exporters))
        # What is not installed cannot be read, and is no fault of the installation.
        for ending in (suffix for suffix in sample_files.readable() if suffix in formats):
            run_step(f"reads {ending}", partial(self._read_file, ending))
        for strategy in (case for case in cases if case in RUNS):
            if run_step(f"tunes with {strategy}", partial(self._tune_table, strategy)):
                self._export_all_formats(strategy)
        if "sequences" in cases and run_step("tunes sequences with mm", self._tune_sequences):
            self._export_all_formats("sequences")

    def _read_file(self, ending: str) -> None:
        path = self._folder / f"people.{ending}"
        sample_files.write_table(self._table, path)
        self._program.open_data(path)
        rows = self._program.session.current_summary.rows
        if rows != len(self._table):
            raise StepFailedError(f"{rows} rows were read, not {len(self._table)}")

    def _tune_table(self, strategy: str) -> None:
        self._program.open_data(self._folder / "people.csv")
        self._program.tune_to_end(RUNS[strategy][0], strategy, RUNS[strategy][1])

    def _tune_sequences(self) -> None:
        from core.datasets.samples import SAMPLES

        path = self._folder / "tags.csv"
        sample_files.write_table(SAMPLES["tags"].table(), path)
        self._program.open_data(path)
        self._program.tune_to_end("crf", "mm", None)

    def _export_all_formats(self, case: str) -> None:
        from core.estimators.optional_parts import missing_package_text
        from core.export.exportable_models import MODEL_ENDINGS, export_variants_of
        from core.export.exporters import EXPORTERS

        task = self._program.session.current_summary.task
        (form,) = export_variants_of(task, self._program.session.shown.plan.model)
        predicts = ".json" if form == Task.SEQUENCE else ""
        for name, exporter in EXPORTERS.items():
            if form not in exporter.forms or missing_package_text(exporter.extra):
                continue
            path = self._folder / f"{case}{exporter.ending}"
            export = partial(self._export_format, name, path)
            if not self._steps.run_step(f"exports {name}", export):
                continue
            if path.suffix in MODEL_ENDINGS or path.suffix == predicts:
                predict = partial(self._predict, path)
                self._steps.run_step(f"predicts as the run does, by {name}", predict)

    def _export_format(self, name: str, path: Path) -> None:
        self._program.export_run(name, path)
        if path.suffix == ".py":
            # Only its grammar: running it would need packages that a program without Python has
            # not.
            compile(path.read_text(encoding="utf-8"), path.name, "exec")

    def _predict(self, model: Path) -> None:
        import pandas as pd

        session, shown, done = self._program.session, list[object](), list[int]()
        out = model.with_name(f"{model.stem}-{model.suffix[1:]}.csv")
        file = self._folder / ("tags.csv" if model.stem == "sequences" else "people.csv")

        def record_count(path: str, count: int) -> None:
            done.append(count)

        session.predictions_saved.connect(record_count)
        session.rows_predicted.connect(shown.append)
        predict = partial(session.predict_rows, file, str(model), trust=True)
        self._program.act_and_wait(predict, lambda: shown)
        self._program.act_and_wait(partial(session.save_predictions, out), lambda: done)
        session.rows_predicted.disconnect(shown.append)
        session.predictions_saved.disconnect(record_count)
        predictions = pd.read_csv(out)
        compare(predictions, self._of_run(), CLOSE.get(model.suffix, EXACT))

    def _of_run(self) -> pd.DataFrame:
        from core.export.finished_run import finished_run
        from core.export.table_model import predictions_table
        from core.tuning.problem_setup import read_data
        from core.tuning.runs.run_folder import RunFolder

        run = finished_run(RunFolder.open(str(self._program.session.run_folder)))
        return predictions_table(run.pipeline, read_data(run.plan.data).features)


def compare(predictions: pd.DataFrame, expected: pd.DataFrame, within: float) -> None:
    """Raise StepFailedError where predictions or probabilities differ by more than `within`."""
    if len(predictions) != len(expected):
        raise StepFailedError(f"{len(predictions)} rows were predicted, not {len(expected)}")
    for name in expected:
        column, expected_column = predictions[name], expected[name]
        if name == "prediction":
            differs = column.astype(str).to_numpy() != expected_column.astype(str).to_numpy()
            if wrong := int(differs.sum()):
                count = f"{wrong} of {len(predictions)} predictions"
                raise StepFailedError(f"{count} differ from the run's")
            continue
        error = float(np.abs(column.to_numpy() - expected_column.to_numpy()).max())
        if error > within:
            raise StepFailedError(f"{name} differs from the run's by {error:.2g}")
