"""The command line up to its first line of progress and to its end, beside its libraries alone."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from limits.work import TIMES, Work

ROUNDS = 5
LIBRARIES = "import pandas, sklearn.linear_model, sklearn.model_selection"


def _spent(command: list[str], folder: Path) -> float:
    """Processor seconds of a process until its first line on standard error."""
    environment = {
        **os.environ,
        "TUNESCOPE_RUNS": str(folder / "runs"),
        "TUNESCOPE_HISTORY": str(folder / "history.sqlite3"),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe) as process:
        assert process.stderr is not None
        process.stderr.readline()
        fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        process.kill()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def first_line() -> float:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "table.csv"
        load_breast_cancer(as_frame=True).frame.to_csv(path, index=False)
        tune = ["-m", "tunescope", "tune", str(path), "--model", "logistic", "--strategy", "mm"]
        command = [sys.executable, *tune]
        return statistics.median(_spent(command, Path(name)) for _ in range(ROUNDS))


def libraries() -> float:
    say = f"{LIBRARIES}; import sys; print(file=sys.stderr, flush=True); sys.stdin.close()"
    with tempfile.TemporaryDirectory() as name:
        command = [sys.executable, "-c", say + "; import time; time.sleep(9)"]
        return statistics.median(_spent(command, Path(name)) for _ in range(ROUNDS))


# As many fits of the same model on the same rows, without a command line.
PLAIN = """
import sys, joblib, numpy as np, pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
table = pd.read_csv(sys.argv[1])
X, y = table.drop(columns="bought").to_numpy(), table["bought"].to_numpy()
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y)
folds, draw = StratifiedKFold(5, shuffle=True), np.random.default_rng(0)
def model(C):
    return make_pipeline(StandardScaler(), LogisticRegression(C=C, max_iter=1000))
penalties = [1.0, *10 ** draw.uniform(-3, 3, 19)]
scores = [cross_val_score(model(C), X_train, y_train, cv=folds).mean() for C in penalties]
for C in (penalties[int(np.argmax(scores))], 1.0):
    fitted = model(C).fit(X_train, y_train)
    print(accuracy_score(y_test, fitted.predict(X_test)))
joblib.dump(fitted.fit(X, y), sys.argv[1] + ".joblib")
"""
TRIALS = ("--model", "logistic", "--strategy", "random", "--trials", "20")


def _spent_in_all(command: list[str]) -> float:
    """Processor seconds of a process and its children on a small table."""
    draw = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        table = pd.DataFrame(draw.normal(size=(100, 5)).round(3), columns=list("abcde"))
        table["bought"] = np.where(table["a"] + draw.normal(size=100) > 0, "yes", "no")
        table.to_csv(path := Path(name) / "table.csv", index=False)
        folders = {"TUNESCOPE_RUNS": name, "TUNESCOPE_HISTORY": f"{name}/history.sqlite3"}
        environment = {**os.environ, **folders, "OMP_NUM_THREADS": "1"}
        words = [sys.executable, *(str(path) if word == "FILE" else word for word in command)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(words, env=environment, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def small_run() -> float:
    command = ["-m", "tunescope", "tune", "FILE", *TRIALS]
    return statistics.median(_spent_in_all(command) for _ in range(ROUNDS))


def plain_run() -> float:
    return statistics.median(_spent_in_all(["-c", PLAIN, "FILE"]) for _ in range(ROUNDS))


WORK = (
    Work("command line, to the first line of progress", 1.2, first_line, libraries,
         "scikit-learn and pandas alone"),
    Work("command line, 20 trials of 100 rows", 1.15, small_run, plain_run,
         "the same fits in scikit-learn", TIMES),
)  # fmt: skip
