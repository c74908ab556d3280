"""Tuning with earlier datasets: where it begins, what it replaces, and that it pays."""

import math
from dataclasses import asdict, replace

import numpy as np
import optuna
import pytest

from core.samplers.search_space import SearchSpace, distributions
from core.samplers.transfer.history import EarlierDataset, TuningHistory
from core.samplers.transfer.joint_surrogate import TransferSampler
from core.space import Axis, unit_vector
from core.tuning.event_lines import from_json, to_json
from core.tuning.events import JointSurfaceFitted

PLANE = (Axis("x", "", "float", 0.0, 1.0), Axis("y", "", "float", 0.0, 1.0))


def bowl(setting, centre, height=0.0, depth=1.0):
    """A score that is largest (height) at the centre."""
    return height - depth * sum((setting[n] - c) ** 2 for n, c in zip("xy", centre, strict=True))


def earlier_bowls(count, trials=11, seed=0, maximize=True):
    """Datasets whose bowls have their centres near (0.7, 0.3), each on its own scale."""
    random, datasets, sign = np.random.default_rng(seed), [], 1.0 if maximize else -1.0
    for k in range(count):
        centre = np.array([0.7, 0.3]) + 0.03 * random.standard_normal(2)
        height, depth = 100 * random.random(), 10 ** random.uniform(-2, 2)
        settings = tuple(dict(zip("xy", u, strict=True)) for u in random.random((trials, 2)))
        scores = tuple(sign * bowl(s, centre, height, depth) for s in settings)
        statistics = tuple(random.standard_normal(3).tolist())
        datasets.append(EarlierDataset(f"d{k}", statistics, settings, scores, maximize=maximize))
    return TuningHistory(tuple(datasets))


def here(setting):
    return bowl(setting, (0.7, 0.3), 5.0, 3.0)


@pytest.mark.parametrize("kernel", ["mkl", "sqe", "printed"])
def test_the_first_trial_is_where_the_history_was_good(run, kernel):
    sampler = TransferSampler(PLANE, history=earlier_bowls(8), kernel=kernel)
    first = run(sampler, here, 1, PLANE).trials[0]
    assert first.user_attrs["reason"] == "past"
    assert "expected" not in first.user_attrs
    assert here(first.params) > 5.0 - 3.0 * 0.15


@pytest.mark.parametrize("kernel", ["mkl", "sqe"])
def test_a_history_of_losses_is_read_the_other_way_round(run, kernel):
    gains = TransferSampler(PLANE, history=earlier_bowls(6), kernel=kernel)
    losses = TransferSampler(PLANE, history=earlier_bowls(6, maximize=False), kernel=kernel)
    first = run(gains, here, 1, PLANE).trials[0].params
    again = run(losses, lambda s: -here(s), 1, PLANE, direction="minimize").trials[0].params
    assert again == pytest.approx(first, abs=1e-6)


def test_what_it_knows_is_told_in_the_events_own_fields(run):
    sampler = TransferSampler(PLANE, history=earlier_bowls(3))
    assert sampler.state is None
    run(sampler, here, 4, PLANE)
    event = JointSurfaceFitted(**asdict(sampler.state))
    assert from_json(to_json(event)) == event
    assert (event.trials, [len(z) for z in event.past_responses]) == (3, [11, 11, 11])
    scores = np.array([here(dict(zip("xy", point, strict=True))) for point in event.points])
    assert event.responses == pytest.approx((scores - event.mean) / event.scale, abs=1e-4)


def test_as_published_scores_are_standardized_by_their_own(run):
    sampler = TransferSampler(PLANE, history=earlier_bowls(3), as_published=True)
    run(sampler, here, 4, PLANE)
    event = sampler.state
    scores = np.array([here(dict(zip("xy", point, strict=True))) for point in event.points])
    assert event.responses == pytest.approx((scores - scores.mean()) / scores.std(), abs=1e-4)
    assert (event.mean, event.scale) == pytest.approx((scores.mean(), scores.std()), rel=1e-5)
    assert event.freedom == 2.0


def alike_at_first(setting):
    """A plateau where earlier datasets did well, whose few scores nearly agree, and a cliff."""
    far = math.hypot(setting["x"] - 0.7, setting["y"] - 0.3)
    return 0.953 - 0.002 * far if far < 0.3 else 0.4


def test_nearly_equal_scores_do_not_make_it_sure(run):
    datasets = []
    for k, dataset in enumerate(earlier_bowls(8).datasets):
        scores = np.array(dataset.scores)
        scores = 0.8 + (0.05 + 0.01 * k) * (scores - scores.mean()) / scores.std()
        datasets.append(replace(dataset, scores=tuple(scores.tolist())))
    history = TuningHistory(tuple(datasets))
    own, fitted = (
        TransferSampler(PLANE, history=history, as_published=flag, replacement=0.0)
        for flag in (True, False)
    )
    for sampler in (own, fitted):
        run(sampler, alike_at_first, 3, PLANE)
    told = [sampler.state.scale * sampler.state.deviation for sampler in (own, fitted)]
    assert told[1] > 20 * told[0]
    # Its usual score lies below those of the plateau, as on the earlier datasets.
    assert fitted.state.mean < 0.95 < own.state.mean


def test_without_a_history_it_is_a_process_of_its_own(run, mixed, hill):
    study = run(TransferSampler(mixed, seed=1, replacement=0.0), hill, 16, mixed)
    assert study.trials[0].user_attrs["reason"] == "random"
    assert {t.user_attrs["reason"] for t in study.trials[1:]} == {"improve"}
    assert study.best_value > -0.5


def test_elements_are_replaced_with_the_probability_given(run):
    space = tuple(Axis(f"x{k}", "", "float", 0.0, 1.0) for k in range(8))
    sampler = TransferSampler(space, replacement=0.25)
    proposal = dict.fromkeys((axis.name for axis in space), 0.5)
    known = SearchSpace(distributions(space))
    study = run(sampler, lambda s: s["x0"], 2, space)
    observed = sampler._reader.read(study, study.trials[0])
    replaced = 0
    for number in range(300):
        trial = optuna.trial.create_trial(params={}, distributions={}, value=0.0)
        trial.number = number
        setting, changed = sampler._replaced(trial, known, observed, proposal)
        differing = sum(value != 0.5 for value in setting.values())
        assert changed == (differing > 0)
        replaced += differing
    assert replaced / (300 * 8) == pytest.approx(0.25, abs=0.03)


def test_earlier_settings_that_the_space_does_not_have_are_left_out(run, mixed, hill):
    good = {"C": 10.0, "depth": 7, "shape": "b"}
    strange = [{"shape": "z"}, {"depth": "seven"}, {"C": float("nan")}, {"C": 1e9}]
    settings = (good, {"C": 10.0, "depth": 7}, *({**good, **changed} for changed in strange))
    dataset = EarlierDataset("a", (1.0, 2.0, 3.0), settings, (0.0, 1.0, 2.0, 3.0, 4.0, -1.0))
    sampler = TransferSampler(mixed, history=TuningHistory((dataset,)))
    run(sampler, hill, 2, mixed)
    assert sampler.earlier.used_trials == ((0, 5),)
    clipped = unit_vector(mixed, {**good, "C": 1e3})
    assert sampler.earlier.points[1] == pytest.approx(clipped)


def test_the_first_trial_is_where_the_historys_posterior_mean_is_largest(run):
    """Against dense algebra of the published kernel, searched by brute force."""
    history = earlier_bowls(4)
    sampler = TransferSampler(PLANE, history=history)
    first = run(sampler, here, 1, PLANE).trials[0].params
    state, order = sampler.state, np.argsort(history.distances())
    assert state.neighbours == order.tolist()
    X = np.array([[s["x"], s["y"]] for k in order for s in history.datasets[k].settings])
    d = np.repeat(np.arange(4), 11)
    scores = [np.array(history.datasets[k].scores) for k in order]
    z = np.concatenate([(f - f.mean()) / f.std() for f in scores])
    assert np.concatenate(state.past_responses) == pytest.approx(z, abs=1e-4)
    near = np.exp(-0.5 * (((X[:, None] - X[None]) / state.lengths) ** 2).sum(axis=2))
    far = np.linalg.norm(X[:, None] - X[None], axis=2) / np.sqrt(2)
    K = 0.3 * (d[:, None] == d) * near + 0.7 * (1.0 - far) + state.noise * np.eye(44)

    def mean(points):
        apart = np.linalg.norm(X[:, None] - points[None], axis=2) / np.sqrt(2)
        return 0.7 * (1.0 - apart).T @ np.linalg.solve(K, z)

    axis = np.linspace(0.0, 1.0, 101)
    everywhere = np.vstack([X, np.array(np.meshgrid(axis, axis)).reshape(2, -1).T])
    assert mean(np.array([[first["x"], first["y"]]]))[0] >= mean(everywhere).max() - 1e-6


def test_of_a_thousand_datasets_the_neighbours_kernel_keeps_twenty(run):
    history = earlier_bowls(1000, trials=2)
    sampler = TransferSampler(PLANE, history=history)
    run(sampler, here, 2, PLANE)
    nearest = np.argsort(history.distances(), kind="stable")[:20]
    assert sampler.state.neighbours == nearest.tolist()
    assert len(sampler.earlier.points) == 40


def test_the_present_ones_first_trial_is_no_deviation_yet(run):
    history = earlier_bowls(3)
    sampler = TransferSampler(PLANE, history=history)
    study = run(sampler, here, 2, PLANE)
    assert sampler.state.responses == [0.0]
    assert not sampler.state.settled
    logs = [np.log(np.std(dataset.scores)) for dataset in history.datasets]
    assert sampler.state.scale == pytest.approx(np.exp(np.mean(logs)))
    third = study.ask(distributions(PLANE))
    assert "expected" not in study.trials[1].user_attrs
    assert "expected" in third.user_attrs or not sampler.state.settled


def test_it_beats_a_process_of_its_own_on_a_family_of_functions(run):
    """Six trials each: shifted and scaled copies of one surface, over several seeds."""

    def regret(history, seed):
        sampler = TransferSampler(PLANE, seed=seed, history=history)
        return 5.0 - run(sampler, here, 6, PLANE).best_value

    with_history = [regret(earlier_bowls(6, seed=seed), seed) for seed in range(6)]
    alone = [regret(TuningHistory(), seed) for seed in range(6)]
    assert np.mean(with_history) < 0.5 * np.mean(alone)
    assert np.sum(np.array(with_history) < alone) >= 5


def test_a_simplex_is_compared_by_shares(run):
    names = ("w0", "w1", "w2")
    space = tuple(Axis(name, "", "float", 0.0, 1.0) for name in names)
    settings = tuple(dict(zip(names, (0.6 * c, 0.3 * c, 0.1 * c), strict=True)) for c in (0.2, 1.0))
    dataset = EarlierDataset("a", (1.0, 1.0, 2.0), settings, (1.0, 3.0))
    history = TuningHistory((dataset,), (1.0, 1.0, 2.0), simplex=names)
    sampler = TransferSampler(space, history=history)
    study = run(sampler, lambda s: s["w0"], 5, space)
    seen = sampler.coordinates.transform(sampler.earlier.points)
    assert seen == pytest.approx(np.array([[0.6, 0.3, 0.1]] * 2))
    sums = [sum(trial.params.values()) for trial in study.trials]
    assert np.ptp(sums) > 0.1  # what is tried is not normalized


@pytest.mark.parametrize("fails", [False, True])
def test_workers_that_ask_at_once_do_not_crowd_and_failed_trials_are_left(fails):
    sampler = TransferSampler(PLANE, history=earlier_bowls(5), seed=1, replacement=0.0)
    study, asked = optuna.create_study(sampler=sampler, direction="maximize"), []
    for _ in range(3):
        asked.append(study.ask(distributions(PLANE)))
        if fails:
            study.tell(asked[-1], state=optuna.trial.TrialState.FAIL)
    points = np.array([list(trial.params.values()) for trial in asked])
    far = np.linalg.norm(points[:, None] - points[None], axis=2)[np.triu_indices(3, 1)]
    assert far.min() > 1e-3
    assert {trial.user_attrs["reason"] for trial in asked} == {"past"}


@pytest.mark.parametrize("kernel", ["mkl", "sqe"])
def test_the_order_of_the_axes_does_not_matter_to_what_is_expected(run, kernel):
    """A permuted space has the same posterior: the first trials' means agree."""

    def highest(space):
        sampler = TransferSampler(space, history=earlier_bowls(3), kernel=kernel)
        run(sampler, here, 1, space)
        regression = sampler._fitter._joint_posterior(sampler._fitter._last[1])
        return float(regression.posterior(np.array([sampler.state.next]))[0][0])

    assert highest(PLANE) == pytest.approx(highest(PLANE[::-1]), abs=2e-3)
