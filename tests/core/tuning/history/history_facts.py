"""What the tests of the history record, and how they run other programs."""

import os
import subprocess
import sys
from pathlib import Path

from core.estimators.registry import MODELS
from core.space import Axis
from core.tuning.history.dataset_records import RunMetadata, statistics_of
from core.tuning.history.store import History

AXES = (Axis("C", "Trust", "float", 0.01, 100.0, log=True, default=1.0),)


def facts_of(axes=AXES, model="svm", task="binary", metric="accuracy", classes=2) -> RunMetadata:
    return RunMetadata(model, task, metric, True, statistics_of(100, 4, classes), "gp", axes)


FACTS = facts_of()
SVM = facts_of(MODELS["svm"].space("binary"))


def opened(path: Path) -> History:
    return History(path, starter=False)


def program_output(script: str, *arguments: object) -> str:
    """What a script prints that runs in a process of its own and may import the tests here."""
    places = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": places},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
