"""The steps of the self-test that need a worker: read, tune, export, predict, compare."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from app.self_test import files
from app.self_test.program import Program
from app.self_test.steps import StepFailedError
from app.worker.messages import Predict

if TYPE_CHECKING:
    import pandas as pd

    from app.self_test.steps import Steps

# {strategy: (the model that it tunes, how many trials)}
RUNS = {"mm": ("logistic", None), "gp": ("svm", 6), "eb-hyp": ("logistic", 12)}
CLOSE = {".onnx": 1e-4}  # sums in ONNX are single
EXACT = 1e-9


class Tried:
    """The program with what was tried so far."""

    def __init__(self, program: Program, folder: Path, steps: Steps) -> None:
        self._program, self._folder, self._steps = program, folder, steps
        self._table = files.people()

    def all(self, parts: Sequence[str], formats: Sequence[str]) -> None:
        """Every step, in order."""
        take = self._steps.take
        take("the worker is ready", self._become_ready)
        for ending in (one for one in files.readable() if one in formats):
            take(f"reads {ending}", lambda ending=ending: self._read(ending))
        for strategy in (part for part in parts if part in RUNS):
            if take(f"tunes with {strategy}", lambda strategy=strategy: self._tune(strategy)):
                self._take_away(strategy)
        if "sequences" in parts and take("tunes sequences with mm", self._tune_sequences):
            self._take_away("sequences")

    def _become_ready(self) -> None:
        self._program.wait(lambda: self._program.session.exporters)

    def _read(self, ending: str) -> None:
        path = self._folder / f"people.{ending}"
        files.write(self._table, path)
        self._program.open(path)
        summary = self._program.session.summary or {}
        if summary.get("rows") != len(self._table):
            raise StepFailedError(f"{summary.get('rows')} rows were read, not {len(self._table)}")

    def _tune(self, strategy: str) -> None:
        self._program.open(self._folder / "people.csv")
        self._program.tune(RUNS[strategy][0], strategy, RUNS[strategy][1])

    def _tune_sequences(self) -> None:
        from core.datasets.samples.registry import SAMPLES

        path = self._folder / "tags.csv"
        files.write(SAMPLES["tags"].table(), path)
        self._program.open(path)
        self._program.tune("crf", "mm", None)

    def _take_away(self, part: str) -> None:
        """Every format that this run offers; each that predicts is asked to."""
        from core.estimators.optional_parts import lacking
        from core.export.choices import MODEL_ENDINGS, forms_of
        from core.export.exporters import EXPORTERS

        task = (self._program.session.summary or {})["task"]
        (form,) = forms_of(task, self._program.session.shown.plan.model)
        predicts = ".json" if form == "sequence" else ""
        for name, one in EXPORTERS.items():
            if form not in one.forms or lacking(one.extra):
                continue
            path = self._folder / f"{part}{one.ending}"
            if not self._steps.take(
                f"exports {name}", lambda name=name, path=path: self._export(name, path)
            ):
                continue
            if path.suffix in MODEL_ENDINGS or path.suffix == predicts:
                self._steps.take(
                    f"predicts as the run does, by {name}", lambda path=path: self._predict(path)
                )

    def _export(self, name: str, path: Path) -> None:
        self._program.export(name, path)
        if path.suffix == ".py":
            compile(path.read_text(encoding="utf-8"), path.name, "exec")

    def _predict(self, model: Path) -> None:
        """The worker predicts with the file; the run's own model must say the same."""
        import pandas as pd

        session, done = self._program.session, []
        out = model.with_name(f"{model.stem}-{model.suffix[1:]}.csv")
        file = self._folder / ("tags.csv" if model.stem == "sequences" else "people.csv")

        def tell(path: str, count: int) -> None:
            done.append(count)

        session.predicted.connect(tell)
        asked = Predict(str(model), str(file), str(out), trust=True)
        self._program.ask(lambda: session.predict(asked), lambda: done)
        session.predicted.disconnect(tell)
        said = pd.read_csv(out)
        compare(said, self._of_run(), CLOSE.get(model.suffix, EXACT))

    def _of_run(self) -> pd.DataFrame:
        """What the run's own model, as its folder keeps it, says of every row."""
        from core.export.finished_run import finished_run
        from core.export.prediction import predictions
        from core.tuning.problem import read_data
        from core.tuning.runs.run_folder import RunFolder

        run = finished_run(RunFolder.open(str(self._program.session.run_folder)))
        return predictions(run.pipeline, read_data(run.plan.data).features)


def compare(said: pd.DataFrame, expected: pd.DataFrame, within: float) -> None:
    """See that two tables of predictions say the same.

    Args:
        said, expected: the columns "prediction" and, for classes, their probabilities.
        within: how far two numbers may lie apart.

    Raises:
        StepFailedError: they do not.
    """
    if len(said) != len(expected):
        raise StepFailedError(f"{len(said)} rows were predicted, not {len(expected)}")
    for name in expected:
        one, other = said[name], expected[name]
        if name == "prediction":
            wrong = int((one.astype(str).to_numpy() != other.astype(str).to_numpy()).sum())
            if wrong:
                raise StepFailedError(f"{wrong} of {len(said)} predictions differ from the run's")
        elif (most := float(np.abs(one.to_numpy() - other.to_numpy()).max())) > within:
            raise StepFailedError(f"{name} differs from the run's by {most:.2g}")
