"""When to stop because nothing improves: what is lost and what is saved by several numbers.

Runs of real tables go on for a hundred trials (a race for five minutes); afterwards it is read off
where each would have ended had it stopped after so many trials in a row without a better one. Lost
is how much of the tuning's gain in validation, from the default setting to the best of the whole
run, had not come by then; saved is the share of the trials' seconds. The number is chosen by the
first files; the others (HELD_OUT) have no part in the choice and are printed beside them.

Of 63 runs of a hundred trials, 50 in a row lost 2.0 % of the gain on the tables that chose the
number and nothing on the others, and saved 15 and 18 % of the time; 30 lost 8.3 and 9.7 %. Races of
five minutes on three tables lost 0.1 % at most by 100, and saved up to 45 %; by 50 one lost 6 %.

    python tests/benchmarks/bench_patience.py DATA RESULTS.jsonl [--race]     runs, and adds lines
    python tests/benchmarks/bench_patience.py RESULTS.jsonl                   the table
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from core.tuning.events import RunStarted, TrialFinished, TuningEnded
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import read_data
from core.tuning.tune import tune

CHOSEN_BY = (
    "heart.csv",
    "australian.csv",
    "diabetes.csv",
    "glass.csv",
    "housing.csv",
    "mpg.csv",
    "ionosphere_scale.libsvm",
)
HELD_OUT = ("wine.csv", "bodyfat.csv", "pyrim.csv", "breast-cancer_scale.libsvm", "iris.csv")
MODELS = ("svm", "elastic-net", "knn", "logistic-l1l2")
STRATEGIES = ("gp", "random", "tpe")
PATIENCES = (10, 20, 30, 50, 100)
TRIALS, RACE_MINUTES = 100, 5.0


def plans(folder: Path, *, race: bool) -> Iterator[Plan]:
    """Every run, in an order in which a part of them says something of all."""
    files = (*CHOSEN_BY, *HELD_OUT)
    if race:
        for file in (*CHOSEN_BY[:4], *HELD_OUT[:3]):
            yield Plan(
                DataPlan(str(folder / file)), "auto", "race", minutes=RACE_MINUTES, patience=0
            )
        return
    mixed = [(file, model, s) for file in files for model in MODELS for s in STRATEGIES]
    random.Random(0).shuffle(mixed)
    for file, model, strategy in mixed:
        yield Plan(DataPlan(str(folder / file)), model, strategy, trials=TRIALS, patience=0)


def measured(plan: Plan) -> dict[str, Any]:
    """The scores of a run, larger is better, and the seconds of each trial."""
    scores, took, sign = [], [], 1.0
    stream = tune(plan, read_data(plan.data))
    for event in stream:
        if isinstance(event, RunStarted) and not event.maximize:
            sign = -1.0
        if isinstance(event, TrialFinished):
            scores.append(event.score)
            took.append(event.took)
        if isinstance(event, TuningEnded):
            break
    stream.close()
    file = Path(plan.data.file).name
    said = {"file": file, "model": plan.model, "strategy": plan.strategy}
    return {**said, "scores": [sign * one for one in scores], "took": took}


def stopped_at(scores: Sequence[float], patience: int) -> int:
    """After how many trials a run ends that stops after so many without a better one."""
    best = 0
    for at, score in enumerate(scores):
        if score > scores[best]:
            best = at
        if at - best >= patience:
            return at + 1
    return len(scores)


def of_run(run: dict[str, Any], patience: int) -> tuple[float, float, float]:
    """The share of the gain that is lost, the loss in hundredths, and the share of time saved."""
    scores, took = run["scores"], run["took"]
    at = stopped_at(scores, patience)
    lost = max(scores) - max(scores[:at])
    gain = max(scores) - scores[0]
    return (lost / gain if gain > 0 else 0.0), 100 * lost, 1 - sum(took[:at]) / sum(took)


def table(runs: Sequence[dict[str, Any]]) -> None:
    for title, wanted in (("chosen by", CHOSEN_BY), ("held out", HELD_OUT)):
        for strategy in (*STRATEGIES, "race", "all but race"):
            named = [
                run
                for run in runs
                if run["file"] in wanted
                and (run["strategy"] == strategy or (" " in strategy and run["strategy"] != "race"))
            ]
            if not named:
                continue
            print(f"{title}, {strategy}: {len(named)} runs")
            for patience in PATIENCES:
                shares, points, saved = zip(*(of_run(r, patience) for r in named), strict=True)
                spoiled = mean(share > 0.1 for share in shares)
                print(
                    f"  {patience:3}: {100 * mean(shares):5.1f} % of the gain lost "
                    f"({mean(points):.2f} points; more than a tenth of it in "
                    f"{100 * spoiled:.0f} % of the runs), {100 * mean(saved):3.0f} % of time saved"
                )


def main() -> None:
    given = [word for word in sys.argv[1:] if not word.startswith("--")]
    results = Path(given[-1])
    if len(given) == 1:
        table([json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()])
        return
    for plan in plans(Path(given[0]), race="--race" in sys.argv):
        try:
            run = measured(plan)
        except Exception as error:  # a model that does not fit the file's task
            print(f"{plan.data.file} {plan.model}: {error}", file=sys.stderr)
            continue
        with results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(run) + "\n")


if __name__ == "__main__":
    main()
