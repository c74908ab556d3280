"""Tuning with earlier datasets: where it begins, what it replaces, and that it pays."""

from dataclasses import asdict

import numpy as np
import optuna
import pytest

from core.samplers.past import Memory, PastDataset
from core.samplers.search_space import SearchSpace, distributions
from core.samplers.transfer import TransferSampler
from core.space import Axis, unit_vector
from core.tuning.events import CommonSurfaceFitted, from_json, to_json

PLANE = (Axis("x", "", "float", 0.0, 1.0), Axis("y", "", "float", 0.0, 1.0))


def bowl(setting, centre, height=0.0, depth=1.0):
    """A score that is largest (height) at the centre."""
    off = sum((setting[name] - c) ** 2 for name, c in zip(("x", "y"), centre, strict=True))
    return height - depth * off


def past_bowls(count, trials=11, seed=0, maximize=True):
    """Datasets whose bowls have their centres near (0.7, 0.3), each on its own scale."""
    random = np.random.default_rng(seed)
    found = []
    for k in range(count):
        centre = np.array([0.7, 0.3]) + 0.03 * random.standard_normal(2)
        height, depth = 100 * random.random(), 10 ** random.uniform(-2, 2)
        settings = [dict(zip(("x", "y"), u, strict=True)) for u in random.random((trials, 2))]
        sign = 1.0 if maximize else -1.0
        scores = [sign * bowl(s, centre, height, depth) for s in settings]
        statistics = tuple(random.standard_normal(3).tolist())
        found.append(
            PastDataset(f"d{k}", statistics, tuple(settings), tuple(scores), maximize=maximize)
        )
    return Memory(tuple(found))


def here(setting):
    return bowl(setting, (0.7, 0.3), 5.0, 3.0)


@pytest.mark.parametrize("kernel", ["mkl", "sqe", "printed"])
def test_the_first_trial_is_where_the_past_was_good(run, kernel):
    sampler = TransferSampler(memory=past_bowls(8), space=PLANE, kernel=kernel)
    study = run(sampler, here, 1, PLANE)
    first = study.trials[0]
    assert first.user_attrs["reason"] == "past"
    assert "expected" not in first.user_attrs
    assert here(first.params) > 5.0 - 3.0 * 0.15


@pytest.mark.parametrize("kernel", ["mkl", "sqe"])
def test_a_past_of_losses_is_read_the_other_way_round(run, kernel):
    gains = TransferSampler(PLANE, memory=past_bowls(6), kernel=kernel)
    losses = TransferSampler(PLANE, memory=past_bowls(6, maximize=False), kernel=kernel)
    first = run(gains, here, 1, PLANE).trials[0].params
    again = run(losses, lambda s: -here(s), 1, PLANE, direction="minimize").trials[0].params
    assert again == pytest.approx(first, abs=1e-6)


def test_what_it_knows_is_told_in_the_events_own_fields(run):
    sampler = TransferSampler(PLANE, memory=past_bowls(3))
    assert sampler.state is None
    run(sampler, here, 4, PLANE)
    event = CommonSurfaceFitted(**asdict(sampler.state))
    assert from_json(to_json(event)) == event
    assert event.trials == 3
    assert [len(z) for z in event.past_responses] == [11, 11, 11]
    scores = np.array([here(t) for t in _settings(event.points)])
    z = (scores - scores.mean()) / scores.std()
    assert event.responses == pytest.approx(z, abs=1e-4)
    assert (event.mean, event.scale) == pytest.approx((scores.mean(), scores.std()), rel=1e-5)


def _settings(points):
    return [dict(zip(("x", "y"), p, strict=True)) for p in points]


def test_without_a_past_it_is_a_process_of_its_own(run, mixed, hill):
    study = run(TransferSampler(mixed, seed=1, replacement=0.0), hill, 16, mixed)
    assert study.trials[0].user_attrs["reason"] == "random"
    assert {t.user_attrs["reason"] for t in study.trials[1:]} == {"improve"}
    assert study.best_value > -0.5


def test_the_same_seed_gives_the_same_trials_and_another_seed_does_not(run):
    def settings(seed):
        sampler = TransferSampler(PLANE, seed=seed, memory=past_bowls(4))
        return [t.params for t in run(sampler, here, 6, PLANE).trials]

    assert settings(3) == settings(3)
    assert settings(3) != settings(4)


def test_elements_are_replaced_with_the_probability_given(run):
    space = tuple(Axis(f"x{k}", "", "float", 0.0, 1.0) for k in range(8))
    sampler = TransferSampler(space, replacement=0.25)
    chosen = dict.fromkeys((axis.name for axis in space), 0.5)
    known = SearchSpace(distributions(space))
    study = run(sampler, lambda s: s["x0"], 2, space)
    history = sampler._reader.read(study, study.trials[0])
    replaced = 0
    for number in range(300):
        trial = optuna.trial.create_trial(params={}, distributions={}, value=0.0)
        trial.number = number
        setting, changed = sampler._replaced(trial, known, history, chosen)
        differing = sum(setting[name] != 0.5 for name in chosen)
        assert changed == (differing > 0)
        replaced += differing
    assert replaced / (300 * 8) == pytest.approx(0.25, abs=0.03)


def test_past_settings_that_the_space_does_not_have_are_left_out(run, mixed, hill):
    good = {"C": 10.0, "depth": 7, "shape": "b"}
    strange = [
        {"C": 10.0, "depth": 7},
        {**good, "shape": "z"},
        {**good, "depth": "seven"},
        {**good, "C": float("nan")},
        {**good, "C": 1e9},
    ]
    one = PastDataset("a", (1.0, 2.0, 3.0), (good, *strange), (0.0, 1.0, 2.0, 3.0, 4.0, -1.0))
    sampler = TransferSampler(mixed, memory=Memory((one,)))
    run(sampler, hill, 2, mixed)
    assert sampler.past.kept == ((0, 5),)
    clipped = unit_vector(mixed, {**good, "C": 1e3})
    assert sampler.past.points[1] == pytest.approx(clipped)
