"""Streams of runs that average their best models."""

from __future__ import annotations

import numpy as np

from core.datasets.task import Task
from core.samplers.averaging import member_count
from core.space import Axis
from core.tuning.events import (
    DatasetFacts,
    DisputedRow,
    EnsembleUpdated,
    MembersDisagree,
    Progress,
    RunFinished,
    RunStarted,
    SurrogateFitted,
    TrialFinished,
    TrialStarted,
)
from core.tuning.run_results import OmittedTrial

SPACE = (
    Axis("C", "Penalty weight", "float", 1e-3, 1e3, log=True, default=1.0),
    Axis("gamma", "Kernel width", "float", 1e-4, 1e1, log=True, default=0.1),
)


def begun(classes=("benign", "malignant"), judged="cv"):
    return RunStarted(
        run="averaged",
        plan={"strategy": "eb-hyp", "model": "svm", "options": {}},
        kind="trials",
        dataset=DatasetFacts(task=Task.BINARY, rows=569, test_rows=171, classes=list(classes)),
        space=list(SPACE),
        metric="log_loss",
        maximize=False,
        total=40,
        judged=judged,
        averages=True,
    )


def setting_of(number):
    random = np.random.default_rng(number)
    return {"C": float(10 ** random.uniform(-3, 3)), "gamma": float(10 ** random.uniform(-4, 1))}


def scores_of(count):
    """Log losses: a few bad ones, and most of them near 0.09."""
    random = np.random.default_rng(0)
    good = 0.09 + 0.03 * random.random(count) ** 2
    return np.where(random.random(count) < 0.25, random.uniform(0.3, 0.69, count), good)


def updated(scores, fair=True, left_out=()):
    """What the average is made of after these scores (smaller is better)."""
    ranked = [int(n) for n in np.argsort(scores, kind="stable") if n not in left_out]
    chosen = ranked[: member_count(len(scores))]
    weights = [1.0 / len(chosen)] * len(chosen)
    best = float(scores[chosen[0]])
    gain = 0.004 * (len(chosen) - 1) ** 0.5
    return EnsembleUpdated(
        finished=len(scores),
        members=chosen,
        weights=weights,
        scores=[float(scores[n]) for n in chosen],
        effective=1.0 / sum(w * w for w in weights),
        average=best + 0.006 - gain if fair else None,
        single=best + 0.006 if fair else None,
        left_out=[OmittedTrial(n, f"Trial {n} is left out: it fails.") for n in left_out],
    )


def disagree(members, classes=("benign", "malignant")):
    random, told = np.random.default_rng(3), []
    for at in range(12):
        truth = classes[int(random.integers(len(classes)))] if classes else "3.2"
        if classes:
            said = random.dirichlet(np.ones(len(classes)), len(members)).tolist()
        else:
            said = random.normal(3.0, 1.0 / (1 + at), len(members)).tolist()
        about = f"mean radius {10 + at}.3, mean texture {20 + at}, worst area {900 + at}"
        told.append(DisputedRow(17 * at, about, truth, spread=0.4 / (1 + at), said=said))
    return MembersDisagree(
        members=list(members), weights=[1.0 / len(members)] * len(members), classes=list(classes),
        rows=told, spread=0.03,
    )  # fmt: skip


def surrogate(count, scores):
    points = [[u for a in SPACE for u in a.to_unit(setting_of(n)[a.name])] for n in range(count)]
    return SurrogateFitted(
        trials=count, points=points, responses=[float(s) for s in scores[:count]],
        numbers=list(range(count)), kernel="matern32", lengths=[0.4, 0.4], noise=1e-2,
        mean=float(np.mean(scores[:count])), scale=float(np.std(scores[:count]) or 1.0),
        maximize=False, acquisition="mean", incumbent=points[int(np.argmin(scores[:count]))],
        next=[0.4, 0.6],
    )  # fmt: skip


def run(count=40, fair=True, left_out=(), ends=True, classes=("benign", "malignant"), **given):
    """A whole run: count trials, all with a score."""
    scores = scores_of(count)
    yield begun(classes=classes, **given)
    for number in range(count):
        late = number >= 4
        last = number == count - 1  # of what only the latest counts, earlier ones cost time
        if late and last:
            yield surrogate(number, scores)
        yield TrialStarted(
            number=number, setting=setting_of(number),
            reason="sample" if late else "start" if number else "default",
            expected=float(scores[number]) + 0.01 if late else None,
            uncertainty=0.02 if late else None,
            candidates=float(4096 / (1 + number) ** 1.4 + 1) if late else None,
        )  # fmt: skip
        yield TrialFinished(
            number=number, setting=setting_of(number), score=float(scores[number]), took=0.2,
            fits=5,
        )  # fmt: skip
        out = [n for n in left_out if n <= number]
        update = updated(scores[: number + 1], fair, out)
        yield update
        if last and len(update.members) > 1:
            yield disagree(update.members, classes=classes)
        yield Progress(done=number + 1, total=40, best=float(scores[: number + 1].min()))
    if ends:
        yield RunFinished(because="done")
