"""Whether the best lies at the edge of its range, worked by hand."""

import math

import pytest

from core.estimators.registry import MODELS
from core.space import Axis
from core.tuning.events import RunStarted, TrialExcluded, TrialFinished
from core.tuning.ranges import with_range
from core.tuning.runs.range_edges import edges_at, edges_of
from core.tuning.runs.state import state_from_events

C = Axis("C", "Cost", "float", 0.01, 1000, log=True, default=1.0)  # five powers of ten
SHARE = Axis("share", "Share", "float", 0.4, 1.0, default=1.0, least=0.01, most=1)
TREES = Axis("trees", "Trees", "int", 10, 500, log=True, default=100)
LAYER = Axis("layer", "Layer", "int", 0, 30, default=0)
P = Axis("p", "Distance", "choice", choices=(1, 2), default=2)


@pytest.mark.parametrize(
    ("axis", "value", "wider"),
    [
        (C, 1000.0, (0.01, 50000.0)),  # a third of five powers: 10**(3 + 5/3) = 46416
        (C, 1000 / 10**0.09, (0.01, 50000.0)),  # 2 % of five powers is 0.1 of one
        (C, 1000 / 10**0.11, None),
        (C, 0.01, (0.0002, 1000)),  # 10**(-2 - 5/3) = 0.000215
        (C, 3.0, None),
        (SHARE, 1.0, None),  # the model takes no more
        (SHARE, 0.41, (0.2, 1.0)),
        (SHARE, 0.42, None),
        (TREES, 500, (10, 2000)),  # a third of ln 50 more: 500 * 50**(1/3) = 1842
        (TREES, 499, None),
        (TREES, 10, (2, 500)),  # 10 / 50**(1/3) = 2.7
        (LAYER, 0, None),
        (LAYER, 30, (0, 40)),
        (P, 2, None),
        (C.within(5, 5), 5, None),
    ],
)
def test_what_lies_at_an_edge_and_how_it_is_widened(axis, value, wider):
    found = edges_at([axis], {axis.name: value})
    assert [one.wider for one in found] == ([] if wider is None else [pytest.approx(wider)])


def test_every_axis_of_every_model_can_be_widened_within_what_it_takes():
    for model in MODELS.values():
        for task in model.tasks:
            for axis in model.space_of(task):
                if axis.kind == "choice":
                    continue
                for end in (axis.low, axis.high):
                    for edge in edges_at([axis], {axis.name: end}):
                        low, high = edge.wider
                        assert low <= axis.low < axis.high <= high
                        assert (low, high) != (axis.low, axis.high)
                        assert with_range(axis, edge.wider).is_free
                        assert not math.isinf(high)


def run(best, count=6, model="svm"):
    scores = [0.5] * (count - 1) + [0.9]
    trials = [
        TrialFinished(number=n, setting={"C": best if n == count - 1 else 1.0}, score=score)
        for n, score in enumerate(scores)
    ]
    started = RunStarted(plan={"model": model, "strategy": "gp"}, space=[C])
    return state_from_events([started, *trials])


def test_a_run_says_so_once_enough_was_tried():
    (edge,) = edges_of(run(1000.0))
    assert edge.sentence == (
        "The best C (1000) lies at the edge of its range, 0.01 to 1000: a wider one, such as 0.01 "
        "to 50000, may hold a better one."
    )
    assert edges_of(run(1000.0, count=4)) == []
    assert edges_of(run(10.0)) == []


@pytest.mark.parametrize(
    ("other", "out", "said"), [(1.0, False, 0), (990.0, False, 1), (1.0, True, 1)]
)
def test_a_best_that_is_as_good_inside_lies_at_no_edge(other, out, said):
    state = run(1000.0)
    state.consume(TrialFinished(number=6, setting={"C": other}, score=0.9))
    if out:
        state.consume(TrialExcluded(number=6))
    assert len(edges_of(state)) == said
