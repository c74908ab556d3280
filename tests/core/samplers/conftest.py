"""A mixed space, a score over it, and ways to run a sampler by asking and telling."""

import functools
import math

import optuna
import pytest

from core.samplers.search_space import distributions
from core.space import Axis

MIXED = (
    Axis("C", "", "float", 1e-3, 1e3, log=True, default=1.0),
    Axis("depth", "", "int", 1, 12, default=3),
    Axis("shape", "", "choice", choices=("a", "b", "c"), default="a"),
)


@pytest.fixture(autouse=True)
def quiet_optuna():
    optuna.logging.set_verbosity(optuna.logging.ERROR)


@pytest.fixture(scope="session")
def mixed():
    """A real, a whole number and a choice."""
    return MIXED


@pytest.fixture(scope="session")
def hill():
    """A score over the mixed space, largest (0) at C = 10, depth 7, shape b."""

    def score(setting):
        off = (math.log10(setting["C"]) - 1) ** 2 + ((setting["depth"] - 7) / 5) ** 2
        return -off - (setting["shape"] != "b")

    return score


@pytest.fixture(scope="session")
def run():
    """Asks and tells; the first trials get recorded scores instead of new ones."""

    def asked_and_told(sampler, score, trials, space=MIXED, direction="maximize", recorded=()):
        study = optuna.create_study(sampler=sampler, direction=direction)
        for number in range(trials):
            trial = study.ask(distributions(space))
            study.tell(trial, recorded[number] if number < len(recorded) else score(trial.params))
        return study

    return asked_and_told


@pytest.fixture(scope="session")
def told():
    """A study that was told the scores of some settings, {value: score} of its first axis."""

    def study_of(sampler, scores, space, direction="maximize"):
        study = optuna.create_study(sampler=sampler, direction=direction)
        for value, score in scores:
            study.enqueue_trial({space[0].name: value})
            study.tell(study.ask(distributions(space)), score)
        return study

    return study_of


@pytest.fixture(scope="session")
def climbed(run, hill):
    """The study of 16 trials of a kind of sampler on the hill, made once."""
    return functools.cache(lambda kind: run(kind(MIXED, seed=5), hill, 16))
