"""The registry of learners, the recommendation, and BLAS held to one thread between steps."""

from __future__ import annotations

import numpy as np
import pytest
from penalty_problems import steps_of, table
from threadpoolctl import threadpool_info, threadpool_limits

from core.losses import LOSSES, build_loss, parameter_groups
from core.options import with_defaults
from core.penalties.penalty_problem import one_blas_thread
from core.penalties.recommendation import recommend_update
from core.tuning.strategies.registry import STRATEGIES

LEARNERS = [name for name, one in STRATEGIES.items() if one.kind == "penalties"]
NOT_FOR = ("loo", "linear")  # leaving rows out is for classes


@pytest.mark.parametrize(
    ("learner", "name"),
    [(learner, name) for learner in LEARNERS for name in LOSSES if (learner, name) != NOT_FOR],
)
def test_every_learner_learns_on_every_loss_with_its_defaults(learner: str, name: str) -> None:
    X, y = table(name)
    whole = build_loss(name, X, y)
    held = np.arange(len(y)) % 3 == 0
    pairs = [(whole.for_data(X[~held], y[~held]), whole.for_data(X[held], y[held]))]
    groups = parameter_groups(whole, np.array([0, 0, 0, 1, 1, 1]))
    options = with_defaults(STRATEGIES[learner].options, {})
    run = steps_of(learner, whole, groups, options, holdout=pairs, group_count=2)
    steps = list(run)
    assert [step.number for step in steps] == list(range(len(steps)))
    np.testing.assert_allclose(steps[0].C, 1.0, rtol=0.5)
    for step in steps:
        assert step.w.shape == (whole.size,)
        assert step.C.shape == step.norms.shape == step.switched_off.shape == (2,)
        assert np.isfinite(step.objective)
    assert whole.value_and_gradient(steps[-1].w)[0] == pytest.approx(steps[-1].loss, rel=1e-6)
    fits = [step.fits for step in steps]
    assert fits == sorted(fits)
    assert fits[-1] > 0


def test_the_same_seed_gives_the_same_steps() -> None:
    X, y = table("multinomial")
    loss = build_loss("multinomial", X, y)
    for learner in ("mm", "evidence", "direct"):
        runs = [list(steps_of(learner, loss, parameter_groups(loss), {}, seed=3)) for _ in range(2)]
        for one, other in zip(*runs, strict=True):
            np.testing.assert_array_equal(one.w, other.w)


def test_steps_do_not_change_later() -> None:
    X, y = table("logistic")
    loss = build_loss("logistic", X, y)
    run = steps_of("mm", loss, parameter_groups(loss), {})
    first = next(run)
    w, C = first.w.copy(), first.C.copy()
    list(run)
    np.testing.assert_array_equal(first.w, w)
    np.testing.assert_array_equal(first.C, C)


@pytest.mark.parametrize(
    ("parameters", "examples", "classes", "strategy", "says"),
    [
        (10, 1000, 2, "loo", "10 weights for 1,000 training rows"),
        (500, 1000, 2, "loo", "leave-one-out"),
        (30, 1000, 3, "loo", "leave-one-out"),
        (5000, 1000, 2, "loo", "leave-one-out"),
        (5000, 1000, 3, "loo", "time of three fits"),
        (5000, 3000, 3, "loo", "leave-one-out"),
        (9000, 3000, 3, "loo", "Five folds"),
        (5000, 3000, 2, "loo", "Five folds"),
        (10, 1000, 0, "evidence", "noise"),
        (5000, 1000, 0, "evidence", "noise"),
    ],
)
def test_the_recommended_learner_and_its_reason(
    parameters: int, examples: int, classes: int, strategy: str, says: str
) -> None:
    chosen = recommend_update(parameters, examples, classes)
    assert chosen.strategy == strategy
    assert says in chosen.reason


def test_large_tables_with_groups_are_left_to_the_evidence() -> None:
    assert recommend_update(5000, 3000, 2, groups=3).strategy == "evidence"
    assert recommend_update(500, 3000, 2, groups=3).strategy == "loo"


def test_blas_has_one_thread_inside_a_step_and_the_callers_number_outside() -> None:
    def threads() -> set[int]:
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    @one_blas_thread
    def steps() -> object:
        yield threads()
        yield threads()

    with threadpool_limits(2, user_api="blas"):
        run = steps()
        assert next(run) == {1}
        assert threads() == {2}
        assert next(run) == {1}
        with pytest.raises(StopIteration):
            next(run)
        assert threads() == {2}
