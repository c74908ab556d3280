"""The common surface redrawn from events: the posterior that the trial was chosen by."""

import functools
from dataclasses import replace

import numpy as np
import optuna
import pytest

from core.gp.transfer.earlier_trials import DatasetTrials
from core.gp.transfer.joint_evaluator import joint_image, joint_slice, restored
from core.gp.transfer.joint_fitting import JointHistory
from core.samplers.search_space import distributions
from core.samplers.transfer.history import EarlierDataset, TuningHistory
from core.samplers.transfer.joint_surrogate import TransferSampler
from core.space import Axis, setting_at

SPACE = (
    Axis("C", "", "float", 1e-3, 1e3, log=True),
    Axis("depth", "", "int", 1, 12),
    Axis("shape", "", "choice", choices=("a", "b", "c")),
)


def history_of(count, maximize=True):
    random = np.random.default_rng(0)
    earlier = []
    for k in range(count):
        settings = [setting_at(SPACE, u) for u in random.random((7, 5))]
        scores = [50 * k - (np.log10(s["C"]) - 1) ** 2 - (s["shape"] == "a") for s in settings]
        statistics = tuple(random.standard_normal(3).tolist())
        trials = tuple(settings), tuple(scores)
        earlier.append(EarlierDataset(f"d{k}", statistics, *trials, maximize))
    return TuningHistory(tuple(earlier), (0.0, 0.0, 0.0))


def joint_history(history):
    datasets = [DatasetTrials(d.statistics, d.settings, d.scores) for d in history.datasets]
    return JointHistory(datasets, history.statistics)


@functools.cache  # read only
def fitted(kernel, datasets=6, trials=5):
    """A run's sampler after some trials, and what its events say."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    history = history_of(datasets)
    sampler = TransferSampler(SPACE, history=history, kernel=kernel)
    study = optuna.create_study(sampler=sampler, direction="maximize")
    for _ in range(trials):
        trial = study.ask(distributions(SPACE))
        study.tell(trial, -((np.log10(trial.params["C"]) - 1) ** 2))
    return sampler, study, sampler.state, joint_history(history)


@pytest.mark.parametrize("kernel", ["mkl", "sqe", "printed"])
def test_the_restored_posterior_is_the_samplers_own(kernel):
    sampler, study, surface, earlier = fitted(kernel)
    inner = sampler._fitter._last[1]
    points = np.random.default_rng(1).random((9, 5))
    rows = np.pad(sampler.coordinates.transform(points), ((0, 0), (0, sampler._fitter.further)))
    mean, sd = restored(surface, earlier, SPACE)[1].posterior(points)
    own_mean, own_sd = inner.posterior(rows)
    assert mean == pytest.approx(own_mean, abs=2e-3)
    assert sd == pytest.approx(own_sd, abs=2e-3)
    expected = study.trials[-1].user_attrs["expected"]
    at_next = restored(surface, earlier, SPACE)[1].posterior(np.array([surface.next]))[0]
    assert surface.mean + surface.scale * at_next[0] == pytest.approx(expected, abs=5e-3)


def test_a_slice_tells_places_heights_and_trials():
    _, study, surface, earlier = fitted("mkl")
    found = joint_slice(surface, earlier, SPACE, "C", points=31)
    assert len(found["x"]) == len(found["mean"]) == len(found["sd"]) == 31
    assert found["log"]
    assert found["labels"] is None
    scores = np.array(found["score_mean"])
    assert scores == pytest.approx(surface.mean + surface.scale * np.array(found["mean"]))
    assert len(found["earlier"]) == 6 * 7
    nearest = surface.neighbours[0]
    first = earlier.datasets[nearest]
    assert found["earlier"][0]["dataset"] == nearest
    assert found["earlier"][0]["x"] == pytest.approx(first.settings[0]["C"], rel=1e-4)
    own = [trial.params["C"] for trial in study.trials]
    assert [trial["x"] for trial in found["trials"]] == pytest.approx(own[:-1], rel=1e-3)
    assert found["next_x"] == pytest.approx(own[-1], rel=1e-3)


def test_responses_that_no_score_can_have_are_not_shown():
    _, _, surface, earlier = fitted("mkl")
    free = joint_slice(surface, earlier, SPACE, "C", points=31)
    limits = tuple(np.quantile(free["score_mean"], [0.3, 0.7]))
    seen = joint_slice(surface, earlier, SPACE, "C", points=31, limits=limits)
    sign = 1.0 if surface.maximize else -1.0
    ends = np.sort([sign * (end - surface.mean) / surface.scale for end in limits])
    for key in ("mean", "band", "wide_band"):
        assert np.array(seen[key]) == pytest.approx(np.clip(free[key], *ends))
    assert np.array(seen["score_mean"]) == pytest.approx(np.clip(free["score_mean"], *limits))
    image = joint_image(surface, earlier, SPACE, ("C", "depth"), size=9, limits=limits)
    assert ends[0] - 1e-9 <= np.min(image["mean"]) < np.max(image["mean"]) <= ends[1] + 1e-9


def test_before_the_first_score_it_goes_through_the_next_trial():
    _, study, surface, earlier = fitted("mkl", trials=1)
    found = joint_slice(surface, earlier, SPACE, "shape")
    assert not found["settled"]
    assert found["trials"] == []
    assert found["at"]["depth"] == study.trials[0].params["depth"]
    assert found["labels"] == ["a", "b", "c"]
    held = joint_slice(surface, earlier, SPACE, "shape", fixed_values={"depth": 2})
    assert held["at"]["depth"] == 2


def test_an_image_agrees_with_the_slice_where_they_cross():
    _, _, surface, earlier = fitted("sqe")
    image = joint_image(surface, earlier, SPACE, ("C", "depth"), size=12)
    assert np.shape(image["mean"]) == (12, 12) == np.shape(image["sd"])
    row = image["y"].index(7.0)
    along = joint_slice(surface, earlier, SPACE, "C", fixed_values={"depth": 7}, points=12)
    assert image["mean"][row] == pytest.approx(along["mean"])
    assert image["contours"]
    assert {"level", "x", "y"} == set(image["contours"][0])
    assert len(image["earlier"]) == 42
    assert len(image["trials"]) == 4


def test_what_cannot_be_shown_is_said():
    _, _, surface, earlier = fitted("mkl", trials=2)
    with pytest.raises(KeyError):
        joint_slice(surface, earlier, SPACE, "no such axis")
    nothing = replace(
        surface, points=[], responses=[], numbers=[], neighbours=[], past_responses=[]
    )
    with pytest.raises(ValueError, match="without any trial"):
        joint_slice(nothing, earlier, SPACE, "C")


def test_of_very_many_earlier_trials_the_nearest_are_shown():
    _, study, surface, earlier = fitted("sqe", datasets=60)
    assert len(surface.neighbours) == len(surface.past_responses) == 20
    found = joint_slice(surface, earlier, SPACE, "C")
    assert len(found["earlier"]) == 20 * 7
    expected = study.trials[-1].user_attrs["expected"]
    nearest = int(np.argmin(np.abs(np.log(np.array(found["x"]) / found["next_x"]))))
    through = joint_slice(surface, earlier, SPACE, "C", fixed_values=study.trials[-1].params)
    assert through["score_mean"][nearest] == pytest.approx(expected, abs=0.5 * surface.scale)
