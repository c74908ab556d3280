"""Only the best models stay in memory, and the average's members are always among them."""

import math
import weakref

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.samplers.averaging import member_count
from core.samplers.top_models import TopModels

SCORES = st.one_of(st.just(math.nan), st.integers(-6, 6).map(float), st.floats(-1e6, 1e6))


class Fitted:
    """A model whose end can be watched."""


class Watched:
    """Kept models beside weak references to all that were ever made."""

    def __init__(self, **given):
        self.kept = TopModels(**given)
        self.made = {}

    def add(self, number, score):
        model = Fitted()
        self.made[number] = weakref.ref(model)
        self.kept.add_model(number, score, model)

    @property
    def alive(self):
        return {number for number, made in self.made.items() if made() is not None}


def best(scores, maximize, excluded=()):
    """All finite trials, the best first, by brute force."""
    finite = [n for n, score in scores.items() if math.isfinite(score) and n not in excluded]
    return sorted(finite, key=lambda n: (-scores[n] if maximize else scores[n], n))


@given(st.lists(SCORES, max_size=60), st.booleans(), st.integers(0, 30), st.randoms())
@settings(max_examples=60, deadline=None)
def test_with_a_plan_no_member_is_ever_missing(values, maximize, more, random):
    order = list(range(len(values)))
    random.shuffle(order)  # several workers finish in any order
    watched = Watched(maximize=maximize, planned=len(values) + more)
    scores = {}
    for number in order:
        watched.add(number, values[number])
        scores[number] = values[number]
        ranked = best(scores, maximize)
        T = member_count(len(ranked))
        assert watched.kept.members == ranked[:T]
        assert watched.kept.evicted_members == []
        assert list(watched.kept.member_models()) == ranked[:T]
        assert watched.alive == set(ranked[: member_count(len(values) + more) + 1])


@given(st.lists(SCORES, min_size=1, max_size=80), st.booleans())
@settings(max_examples=60, deadline=None)
def test_without_a_plan_one_spare_is_kept_and_what_is_missing_is_said(values, maximize):
    watched = Watched(maximize=maximize)
    scores = {}
    for number, value in enumerate(values):
        watched.add(number, value)
        scores[number] = value
        ranked = best(scores, maximize)
        wanted = ranked[: member_count(len(ranked))]
        kept = watched.kept
        assert kept.members == wanted
        assert kept.evicted_members == [n for n in wanted if n not in watched.alive]
        assert len(ranked) >= 30 or kept.evicted_members == []
        assert set(kept.trials_with_models) == watched.alive
        assert len(watched.alive) <= member_count(len(ranked)) + 1
        for lost in kept.evicted_members:
            kept.restore(lost, Fitted())
        assert list(kept.member_models()) == wanted


CHANGES = st.lists(
    st.tuples(st.sampled_from(["add", "add", "add", "exclude", "include"]), SCORES, st.integers()),
    max_size=70,
)


@given(CHANGES, st.sampled_from([0, 40]), st.booleans())
@settings(max_examples=100, deadline=None)
def test_excluding_and_including_again(changes, planned, maximize):
    watched = Watched(maximize=maximize, planned=planned)
    kept, scores, excluded = watched.kept, {}, set()
    for change, value, which in changes:
        if change == "add":
            number = len(watched.made)
            wants = kept.would_keep(number, value)
            watched.add(number, value)
            assert wants == (number in watched.alive)
            scores[number] = value
        elif watched.made:
            number = which % len(watched.made)
            (excluded.add if change == "exclude" else excluded.discard)(number)
            (kept.exclude if change == "exclude" else kept.include)(number)
        finite = len(best(scores, maximize))
        wanted = best(scores, maximize, excluded)[: member_count(finite)]
        assert kept.members == wanted
        assert kept.evicted_members == [n for n in wanted if n not in kept.member_models()]
        assert not watched.alive & excluded
        assert len(watched.alive) <= member_count(max(finite, planned)) + 1
        for lost in kept.evicted_members:
            model = Fitted()
            watched.made[lost] = weakref.ref(model)
            kept.restore(lost, model)
            del model  # or this test would keep it alive
        assert kept.evicted_members == []


def test_one_spare_is_not_enough_when_the_best_came_first():
    # Ever worse trials: the third best is trial 2, which was let go of when three are needed.
    open_end, plan = Watched(maximize=True), Watched(maximize=True, planned=30)
    for number in range(30):
        open_end.add(number, -float(number))
        plan.add(number, -float(number))
        assert open_end.kept.evicted_members == ([2] if number == 29 else [])
    assert plan.kept.members == [0, 1, 2]
    assert plan.kept.evicted_members == []
    assert len(plan.alive) == 4


def test_a_model_is_let_go_of_the_moment_it_leaves_the_top():
    watched = Watched(maximize=False)
    for number, score in enumerate([5.0, 4.0, 6.0, 3.0]):
        watched.add(number, score)
    assert watched.alive == {3, 1}
    watched.add(4, math.nan)
    watched.add(5, math.inf)
    assert watched.alive == {3, 1}
    watched.kept.exclude(3)
    assert watched.alive == {1}
    assert watched.kept.members == [1]
    watched.kept.include(3)
    assert watched.kept.evicted_members == [3]
    watched.kept.restore(3, "again")
    assert watched.kept.member_models() == {3: "again"}
    watched.kept.restore(2, "not needed")
    assert watched.kept.trials_with_models == [3, 1]


def test_before_the_first_trial():
    kept = TopModels(maximize=True)
    assert kept.members == kept.evicted_members == kept.trials_with_models == []
    assert kept.member_models() == {}
    assert kept.would_keep(0, 1.0)
    assert not kept.would_keep(0, math.nan)


@pytest.mark.parametrize(("finished", "planned", "held"), [(5, 0, 2), (25, 0, 3), (5, 60, 7)])
def test_how_many_are_held(finished, planned, held):
    watched = Watched(maximize=True, planned=planned)
    for number in range(finished):
        watched.add(number, float(number))
    assert watched.kept.capacity == held
    assert len(watched.alive) == min(held, finished)
