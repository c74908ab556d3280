"""The common surface redrawn from events: the posterior that the trial was chosen by."""

from dataclasses import asdict

import numpy as np
import optuna
import pytest

from core.gp.transfer.evaluator import common_image, common_slice, restored
from core.samplers.search_space import distributions
from core.samplers.transfer.history import EarlierDataset, TuningHistory
from core.samplers.transfer.sampler import TransferSampler
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
        earlier.append(
            EarlierDataset(f"d{k}", statistics, tuple(settings), tuple(scores), maximize)
        )
    return TuningHistory(tuple(earlier), (0.0, 0.0, 0.0))


def plain_history(history):
    """As HistoryRead has it."""
    names = [axis.name for axis in SPACE]
    return {
        "statistics": list(history.statistics),
        "axes": names,
        "datasets": [
            {
                "id": one.id,
                "statistics": list(one.statistics),
                "values": [[s[name] for name in names] for s in one.settings],
                "scores": list(one.scores),
                "maximize": one.maximize,
                "starter": False,
                "distance": 0.0,
            }
            for one in history.datasets
        ],
    }


def fitted(kernel, datasets=6, trials=5):
    """A run's sampler after some trials, and its two events as dicts."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    history = history_of(datasets)
    sampler = TransferSampler(SPACE, history=history, kernel=kernel)
    study = optuna.create_study(sampler=sampler, direction="maximize")
    for _ in range(trials):
        trial = study.ask(distributions(SPACE))
        study.tell(trial, -((np.log10(trial.params["C"]) - 1) ** 2))
    return sampler, study, asdict(sampler.state), plain_history(history)


@pytest.mark.parametrize("kernel", ["mkl", "sqe", "printed"])
def test_the_restored_posterior_is_the_samplers_own(kernel):
    sampler, study, surface, earlier = fitted(kernel)
    inner = sampler._fitter._last[1]
    points = np.random.default_rng(1).random((9, 5))
    rows = np.pad(sampler.coordinates.of(points), ((0, 0), (0, sampler._fitter.further)))
    mean, sd = restored(surface, earlier, [axis.as_dict() for axis in SPACE]).posterior(points)
    own_mean, own_sd = inner.posterior(rows)
    assert mean == pytest.approx(own_mean, abs=2e-3)
    assert sd == pytest.approx(own_sd, abs=2e-3)
    expected = study.trials[-1].user_attrs["expected"]
    at_next = restored(surface, earlier, SPACE).posterior(np.array([surface["next"]]))[0]
    assert surface["mean"] + surface["scale"] * at_next[0] == pytest.approx(expected, abs=5e-3)


def test_a_slice_tells_places_heights_and_trials():
    _, study, surface, earlier = fitted("mkl")
    found = common_slice(surface, earlier, SPACE, "C", points=31)
    assert len(found["x"]) == len(found["mean"]) == len(found["sd"]) == 31
    assert found["log"]
    assert found["labels"] is None
    scores = np.array(found["score_mean"])
    assert scores == pytest.approx(surface["mean"] + surface["scale"] * np.array(found["mean"]))
    assert len(found["earlier"]) == 6 * 7
    nearest = surface["neighbours"][0]
    first = earlier["datasets"][nearest]
    assert found["earlier"][0]["dataset"] == nearest
    assert found["earlier"][0]["x"] == pytest.approx(first["values"][0][0], rel=1e-4)
    own = [trial.params["C"] for trial in study.trials]
    assert [trial["x"] for trial in found["trials"]] == pytest.approx(own[:-1], rel=1e-3)
    assert found["next_x"] == pytest.approx(own[-1], rel=1e-3)


def test_before_the_first_score_it_goes_through_the_next_trial():
    _, study, surface, earlier = fitted("mkl", trials=1)
    found = common_slice(surface, earlier, SPACE, "shape")
    assert not found["settled"]
    assert found["trials"] == []
    assert found["at"]["depth"] == study.trials[0].params["depth"]
    assert found["labels"] == ["a", "b", "c"]
    held = common_slice(surface, earlier, SPACE, "shape", at={"depth": 2})
    assert held["at"]["depth"] == 2


def test_an_image_agrees_with_the_slice_where_they_cross():
    _, _, surface, earlier = fitted("sqe")
    image = common_image(surface, earlier, SPACE, "C", "depth", size=12)
    assert np.shape(image["mean"]) == (12, 12) == np.shape(image["sd"])
    row = image["y"].index(7.0)
    along = common_slice(surface, earlier, SPACE, "C", at={"depth": 7}, points=12)
    assert image["mean"][row] == pytest.approx(along["mean"])
    assert image["contours"]
    assert {"level", "x", "y"} == set(image["contours"][0])
    assert len(image["earlier"]) == 42
    assert len(image["trials"]) == 4


def test_what_cannot_be_shown_is_said():
    _, _, surface, earlier = fitted("mkl", trials=2)
    with pytest.raises(KeyError):
        common_slice(surface, earlier, SPACE, "no such axis")
    nothing = surface | {"points": [], "responses": [], "numbers": [], "neighbours": []}
    with pytest.raises(ValueError, match="without any trial"):
        common_slice(nothing | {"past_responses": []}, earlier, SPACE, "C")


def test_of_very_many_earlier_trials_the_nearest_are_shown():
    _, study, surface, earlier = fitted("sqe", datasets=60)
    assert len(surface["neighbours"]) == len(surface["past_responses"]) == 20
    found = common_slice(surface, earlier, SPACE, "C")
    assert len(found["earlier"]) == 20 * 7
    expected = study.trials[-1].user_attrs["expected"]
    nearest = int(np.argmin(np.abs(np.log(np.array(found["x"]) / found["next_x"]))))
    through = common_slice(surface, earlier, SPACE, "C", at=study.trials[-1].params)
    assert through["score_mean"][nearest] == pytest.approx(expected, abs=0.5 * surface["scale"])
