"""What learning penalties of sequences and molecules costs beside one fit at fixed penalties.

    python tests/benchmarks/bench_structured.py [--data DIR] [--files PATH …]

Counted in gradients of the loss: a Hessian product counts as many as it took longer, measured in
the same run, and on a part of the examples both count their part. Aims: mm at most 10 fits,
gradient at most 20. With --data the real files take the samples' place, with --files a person's
own tables of sequences or molecules.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import deque
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

import own_files

from core.errors import UnusableError
from core.optimize.descent import solve_penalized
from core.penalties.penalty_problem import PenaltyProblem
from core.tuning.learning.learning_run import training_of
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import build_problem
from core.tuning.strategies.registry import STRATEGIES

MODELS = {"sequence": "crf", "structure": "rna"}
SAMPLES = ("sample:tags", "sample:molecules")
FILES = ("pos_ewt_train.csv", "rna_s151rfam.csv")
CLOSE = 1e-8  # share of the loss within which the fit at fixed penalties must be of its minimum


def counted(loss, whole, asked):
    """The same loss, counting what it is asked: evaluations at a new w, and products there."""
    share, evaluate = loss.examples / whole, loss._point_at

    def evaluated(w):
        asked["gradients"] += share
        at = evaluate(w)
        exact = at.product

        def product(v):
            asked["products"] += share
            return exact(v)

        at.product = product
        return at

    loss._point_at = evaluated
    return loss


def ratio_of_product(loss):
    """How many gradients a Hessian product takes, at a random point."""
    w = np.random.default_rng(0).normal(size=loss.size) * 0.1
    loss.hessian_product(w, w)
    took = {"gradient": [], "product": []}
    for k in range(5):
        begun = time.perf_counter()
        loss.value_and_gradient(w + 1e-6 * (k + 1))
        took["gradient"].append(time.perf_counter() - begun)
        begun = time.perf_counter()
        loss.hessian_product(w + 1e-6 * (k + 1), w)
        took["product"].append(time.perf_counter() - begun)
    return np.median(took["product"]) / np.median(took["gradient"])


def measure(given):
    file, target = own_files.divided(given)
    dataset = own_files.dataset_of(given)
    task = dataset.task
    if task not in MODELS:
        raise UnusableError(
            f"it is a file for {task}, and these are penalties of sequences and molecules",
            where=file,
        )
    problem = build_problem(
        Plan(DataPlan(file, target=target), MODELS[task], "mm", groups="column"), dataset
    )
    training = training_of(problem)
    product = ratio_of_product(training.loss)
    whole = training.loss.examples
    asked = {"gradients": 0.0, "products": 0.0}

    def cost():
        total = asked["gradients"] + product * asked["products"]
        asked.update(gradients=0.0, products=0.0)
        return total

    loss = counted(training.loss, whole, asked)
    solve_penalized(loss, np.ones(loss.size), loss.initial_weights(), tolerance=CLOSE)
    one = cost()
    print(f"{file}: {loss.size:,} parameters; a product takes {product:.2f} gradients")
    print(f"  one fit at C = 1: {one:.0f} gradients")
    rows = problem.train_rows
    unit = problem.dataset.row_groups[rows] if task == "sequence" else rows
    held = np.unique(unit, return_inverse=True)[1] % 4 == 0
    pair = training.loss_pair(problem, rows[~held], rows[held])
    holdout = [tuple(counted(part, whole, asked) for part in pair)]
    for name in ("mm", "gradient"):
        of_grouping = {
            "single": np.zeros_like(training.groups),
            "by kind": training.groups,
            "separate": np.arange(len(training.groups)),
        }
        for grouping, groups in of_grouping.items():
            learner = STRATEGIES[name]
            options = learner.option_values({})
            begun = time.perf_counter()
            last = deque(
                learner.make(PenaltyProblem(loss, groups, holdout=holdout), options), maxlen=1
            )[-1]
            took = time.perf_counter() - begun
            total = cost()
            print(
                f"  {name:8} {grouping:8} {total:6.0f} gradients, {total / one:5.1f} fits, "
                f"{last.number:3} steps, {took:.1f} s",
                flush=True,
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    own_files.add_to(parser, "tables of sequences or molecules")
    given = parser.parse_args()
    usual = [str(given.data / file) for file in FILES] if given.data else SAMPLES
    with own_files.refusing(parser):
        for file in given.files or usual:
            measure(file)


if __name__ == "__main__":
    main()
