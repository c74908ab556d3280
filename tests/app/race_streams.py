"""Streams of a run that tunes three models: a screening, trials, and what came of it."""

from __future__ import annotations

from core.datasets.task import Task
from core.estimators.multi_model import combined_setting
from core.json_reading import read_as
from core.space import Axis
from core.tuning.events import (
    DatasetFacts,
    EnsembleUpdated,
    LeaderboardEntry,
    ModelsCompared,
    ModelScreened,
    Progress,
    RunFinished,
    RunStarted,
    TrialFailed,
    TrialFinished,
    TrialStarted,
    TuningEnded,
)
from core.tuning.plan import DataPlan, Plan
from core.tuning.run_results import Results

NAMES = ("logistic", "svm", "forest")
LOOKS = {"logistic": 0.72, "svm": 0.69, "forest": 0.70}
DEFAULTS = {
    "logistic": {"C": 1.0},
    "svm": {"C": 1.0, "gamma": 0.1},
    "forest": {"n_estimators": 100, "max_features": "sqrt", "min_samples_leaf": 1},
}
# (model, its setting, score, whether it was ended early); None is a trial that failed.
TRIALS = (
    ("logistic", DEFAULTS["logistic"], 0.74, False),
    ("svm", DEFAULTS["svm"], 0.70, False),
    ("forest", DEFAULTS["forest"], 0.61, True),
    ("logistic", {"C": 0.1}, 0.75, False),
    ("svm", {"C": 10.0, "gamma": 0.01}, 0.80, False),
    ("svm", {"C": 100.0, "gamma": 3.0}, None, False),
    ("forest", {"n_estimators": 300, "max_features": "sqrt", "min_samples_leaf": 5}, 0.66, True),
    ("svm", {"C": 30.0, "gamma": 0.02}, 0.78, False),
)


def begun(maximize=True, baseline=0.5, metric="accuracy", names=NAMES, **plan):
    axis = Axis("model", "Model", "choice", choices=names, default=names[0])
    return RunStarted(
        run="race",
        plan=Plan(DataPlan("x.csv"), "auto", "race", **plan).as_dict(),
        dataset=DatasetFacts(
            name="x", task=Task.BINARY, rows=300, features=4, train_rows=210, test_rows=90,
            classes=["no", "yes"], fingerprint="f",
        ),
        space=[axis],
        metric=metric,
        maximize=maximize,
        averages=True,
        baseline=baseline,
    )  # fmt: skip


def looks(failed=()):
    for at, (name, score) in enumerate(LOOKS.items()):
        why = "There was not enough memory." if name in failed else ""
        yield ModelScreened(
            seconds=0.1 * (at + 1), model=name, setting=combined_setting(name, DEFAULTS[name]),
            score=None if why else score, rows=210, took=0.1, failure=why,
        )  # fmt: skip


def standing(name, trials, best, error=0.01, state="tuned", **more):
    given = {"look": LOOKS[name], "seconds": float(trials), "gain": 0.004, "takes": 1.5, **more}
    return LeaderboardEntry(model=name, trials=trials, best=best, error=error, state=state, **given)


def compared(told=TRIALS, following="svm", why="gain"):
    """How the models stand after some trials."""
    found = []
    for name in NAMES:
        whole = [score for model, _, score, early in told if model == name and not early and score]
        state = "tuned" if whole else "waiting"
        best = max(whole, default=None)
        found.append(standing(name, len(whole), best, None if best is None else 0.01, state))
    found.sort(key=lambda one: -(one.best or 0.0))
    return ModelsCompared(models=found, next=following, why=why)


def trials(told=TRIALS):
    for number, (model, own, score, early) in enumerate(told):
        setting, at = combined_setting(model, own), float(number)
        yield compared(told[:number], model, "gain" if number > 2 else "first")
        reason = "improve" if number > 2 else "default"
        yield TrialStarted(
            seconds=at, number=number, setting=setting, reason=reason, expected=0.79,
            uncertainty=0.02,
        )  # fmt: skip
        if score is None:
            yield TrialFailed(
                seconds=at + 1, number=number, setting=setting, reason="It did not converge."
            )
            continue
        yield TrialFinished(
            seconds=at + 1, number=number, setting=setting, score=score, took=1.0,
            fold_scores=[score - 0.01, score + 0.01], fits=2 if early else 5, behind=early,
        )  # fmt: skip
        yield Progress(seconds=at + 1, done=number + 1, seconds_left=20.0)


def average(members=(4, 3), weights=(0.75, 0.25), scores=(0.80, 0.75)):
    return EnsembleUpdated(
        finished=7, members=list(members), weights=list(weights), scores=list(scores),
        effective=1.6, average=0.81, single=0.79, kind="greedy",
    )  # fmt: skip


def results(taken="best", tested=True, **more):
    """Those of the run: the support vector machine of trial 4 against logistic regression."""
    best, default = (
        combined_setting("svm", TRIALS[4][1]),
        combined_setting("logistic", DEFAULTS["logistic"]),
    )
    gain = {"metric": "accuracy", "difference": 0.04, "low": 0.01, "high": 0.08, "real": True}
    simplest = {"kind": "simplest", "trial": 3, "setting": combined_setting("logistic", {"C": 0.1}),
                "validation": 0.75, "taken": taken == "simplest"}  # fmt: skip
    if tested and taken != "simplest":
        simplest |= {"test": {"accuracy": 0.77}, "test_interval": [0.68, 0.85],
                     "gain": {**gain, "difference": -0.01, "real": False}}  # fmt: skip
    found = [
        {"kind": "best", "trial": 4, "setting": best, "validation": 0.8, "taken": taken == "best"},
        simplest,
        {"kind": "default", "trial": 0, "setting": default, "validation": 0.74, "taken": False},
    ]
    plain = {
        "setting": best if taken == "best" else simplest["setting"], "default_setting": default,
        "groups": {}, "switched_off": [], "metric": "accuracy", "maximize": True,
        "validation": {"accuracy": 0.8}, "test": {"accuracy": 0.82, "auc": 0.9},
        "default_test": {"accuracy": 0.78, "auc": 0.85}, "test_interval": [0.73, 0.89],
        "default_interval": [0.68, 0.86], "baseline": "the most frequent class",
        "baseline_test": {"accuracy": 0.5}, "gain": gain, "optimism": 0.01,
        "gain_over_baseline": {"metric": "accuracy", "difference": 0.32},
        "right": {"tuned": 74, "default": 70, "rows": 90}, "calibration": None, "remarks": [],
        "fits": 30, "trials": 7, "failed": 1, "seconds": 8.0, "stopped_because": "the time was up",
        "seed": 0, "taken": taken, "candidates": found, **more,
    }  # fmt: skip
    return read_as(Results, plain)


def run(ends=True, **given):
    yield begun(**given)
    yield from looks()
    yield from trials()
    yield average()
    yield compared()
    if ends:
        yield TuningEnded(seconds=8.0, because="the time was up")
        yield RunFinished(seconds=9.0, because="the time was up", results=results())
