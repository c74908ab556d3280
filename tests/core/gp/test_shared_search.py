"""Shared candidates: their rank-one updates beside a posterior that is factored anew."""

from __future__ import annotations

import numpy as np
import optuna
import pytest
from scipy.spatial.distance import cdist

from core.gp.acquisition import ACQUISITIONS
from core.gp.domain import SearchDomain
from core.gp.kernels import Hyperparameters, Stationary
from core.gp.proposal import EQUAL, AcquisitionSearch
from core.gp.regression import ExactPosterior
from core.gp.shared_search import ASKS, SharedCandidates
from core.samplers import bayes
from core.space import Axis

SPACE = tuple(Axis(f"x{k}", "", "float", 0.0, 1.0) for k in range(3))
DOMAIN = SearchDomain(SPACE)
KERNEL = Stationary("matern52", Hyperparameters(np.array([0.3, 0.5, 0.9]), 1.2, 1e-3))
RANDOM = np.random.default_rng(0)
X = RANDOM.random((30, 3))
Z = np.sin(4 * X[:, 0]) - X[:, 1]
EI = ACQUISITIONS["ei"]


def shared():
    """Candidates after twenty scores and ten running trials believed at their mean."""
    scored = ExactPosterior(KERNEL, X[:20], Z[:20])
    surface = scored.extended(X[20:], np.append(Z[:20], scored.posterior(X[20:])[0]))
    best = int(Z[:20].argmax())
    random = np.random.default_rng(1)
    search = AcquisitionSearch(surface, DOMAIN, float(Z[best]), X[best], X, random)
    return scored, SharedCandidates(search, surface, EI), float(Z[best]), X[best]


def test_after_every_ask_the_posterior_is_that_of_a_fresh_factor():
    scored, candidates, best, incumbent = shared()
    tried, z = X, np.append(Z[:20], scored.posterior(X[20:])[0])
    for ask in range(6):
        search = candidates.search(scored, best)
        fresh = ExactPosterior(KERNEL, tried, z)
        mean, sd = fresh.posterior(search.points)
        assert search.mean == pytest.approx(mean, abs=1e-8)
        assert search.sd == pytest.approx(sd, abs=1e-7)
        area = search.local_search() if ask % 2 else search.interior_search()
        proposal = area.maximize(EI)
        # No point twice, nor so near one that no model tells them apart.
        assert cdist(search.points, tried, "chebyshev").min() > EQUAL
        tried = np.vstack([tried, proposal.point])
        z = np.append(z, scored.posterior(proposal.point[None, :])[0])
        assert candidates.follow(KERNEL, incumbent, tried)


def test_a_running_trial_that_ends_keeps_its_row():
    scored, candidates, best, _ = shared()
    more = scored.extended(X[20:23], Z[:23])
    believed = np.append(Z[:23], more.posterior(X[23:])[0])
    search = candidates.search(more, best)
    mean, sd = ExactPosterior(KERNEL, X, believed).posterior(search.points)
    assert search.mean == pytest.approx(mean, abs=1e-8)
    assert search.sd == pytest.approx(sd, abs=1e-7)


def test_a_new_search_is_due_where_something_else_changed():
    scored, candidates, best, incumbent = shared()
    assert candidates.follow(KERNEL, incumbent, X)
    assert not candidates.follow(KERNEL.noisier(0.1), incumbent, X)
    assert not candidates.follow(KERNEL, X[0] + 0.01, X)
    assert not candidates.follow(KERNEL, incumbent, np.vstack([X, [[0.123, 0.456, 0.789]]]))
    proposals = candidates.search(scored, best).points[:ASKS]
    assert not candidates.follow(KERNEL, incumbent, np.vstack([X, proposals]))


@pytest.mark.parametrize("kind", [bayes.GpSampler, bayes.HybridSampler])
def test_a_crowd_of_workers_gets_different_settings_and_the_same_ones_again(kind, monkeypatch):
    monkeypatch.setattr(bayes, "CROWD", 8)
    runs = []
    for _ in range(2):
        study = optuna.create_study(sampler=kind(SPACE, seed=3))
        space = study.sampler.infer_relative_search_space(study, None)
        trials = [study.ask(space) for _ in range(12)]
        for trial in trials[:6]:
            study.tell(trial, sum((value - 0.4) ** 2 for value in trial.params.values()))
        for _ in range(12):
            trials.append(study.ask(space))
            earliest = min(trials[6:], key=lambda trial: trial.number)
            trials.remove(earliest)
            study.tell(earliest, sum((value - 0.4) ** 2 for value in earliest.params.values()))
        runs.append([tuple(trial.params.values()) for trial in study.get_trials()])
    assert runs[0] == runs[1]
    assert len(set(runs[0])) == 24
