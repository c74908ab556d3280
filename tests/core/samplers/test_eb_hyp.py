"""EB-Hyp: its proposals follow the drawn posterior, by brute force; and it works in any study."""

import math
from dataclasses import replace

import numpy as np
import optuna
import pytest
from numpy.testing import assert_allclose
from scipy.stats import chisquare

from core.gp.domain import SearchDomain
from core.gp.pathwise import PosteriorDraws
from core.samplers import bayes
from core.samplers.bayes import DRAW, PICK, EbHypOptions, EbHypSampler, posterior, prior_shares
from core.samplers.search_space import SearchSpace, distributions
from core.space import Axis

LINE = (Axis("x", "", "float", 0, 10),)
# A logarithmic range of whole numbers: the first ones are many times more probable a priori.
WHOLE = (Axis("k", "", "int", 1, 24, log=True),)
RULES = ["sample", "thompson"]


class OneDraw(EbHypSampler):
    """Draws the same function whatever the seed; only `fresh` purposes depend on the seed."""

    fresh = (PICK,)

    def __init__(self, space, options):
        super().__init__(space, replace(options, always_learn=False))

    def random_generator(self, trial, purpose):
        seed = self.seed if purpose in self.fresh else 7
        return np.random.default_rng([seed, trial.number, purpose])


def asked_often(sampler, space, score, times):
    """Proposals for one trial after six others, one for each seed; and the settings of these."""
    study = optuna.create_study(sampler=sampler, direction="maximize")
    for _ in range(6):
        trial = study.ask(distributions(space))
        study.tell(trial, score(trial.params))
    study.ask()  # proposes by itself; the proposals below are for the same trial
    frozen, known = study.trials[-1], SearchSpace(distributions(space))
    proposed = []
    for sampler.seed in range(times):
        proposed.extend(sampler.propose(study, frozen, known).values())
    return [trial.params for trial in study.trials[:6]], proposed


def the_draw(sampler, number=6):
    """The function behind the last proposal, made again from what the views are given."""
    random = np.random.default_rng([7, number, DRAW])
    return PosteriorDraws(sampler.surrogate.regression(), random)


def share_by_brute_force(axis):
    """How many of evenly spread unit values are each whole number."""
    values = [axis.from_unit([unit]) for unit in (np.arange(20_000) + 0.5) / 20_000]
    return np.bincount(values, minlength=round(axis.high) + 1)[1:] / 20_000


def nine(setting):
    """A score that is largest at 9."""
    return -((setting["k"] - 9) ** 2) / 30


def test_samples_follow_the_drawn_posterior_times_the_prior():
    sampler = OneDraw(WHOLE, EbHypOptions(temperature=0.5, start_trials=6))
    tried, proposed = asked_often(sampler, WHOLE, nine, 500)
    counts = np.bincount(proposed, minlength=25)[1:]
    left = ~np.isin(np.arange(1, 25), [setting["k"] for setting in tried])
    drawn = the_draw(sampler)(np.array([WHOLE[0].to_unit(k) for k in range(1, 25)]))[0]

    def p_value(temperature, prior):
        p = np.exp(drawn / temperature) * prior * left
        expected = (p / p.sum() * len(proposed))[left]
        rare = expected < 5
        observed = np.append(counts[left][~rare], counts[left][rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
        some = expected > 0
        return chisquare(observed[some], expected[some]).pvalue

    prior = share_by_brute_force(WHOLE[0])
    assert counts[~left].sum() == 0
    assert p_value(0.5, prior) > 0.01
    assert p_value(1.0, prior) < 1e-4
    assert p_value(0.5, np.ones(24)) < 1e-6


def test_samples_of_a_real_number_follow_the_draws_density(monkeypatch):
    monkeypatch.setattr(bayes, "CANDIDATES", 256)
    sampler = OneDraw(LINE, EbHypOptions(temperature=0.5, start_trials=6))
    sampler.fresh = (PICK, bayes.SEARCH)
    _, proposed = asked_often(sampler, LINE, lambda s: math.sin(s["x"]), 250)
    drawn = the_draw(sampler)((np.arange(4000)[:, None] + 0.5) / 4000)[0]
    counts = np.histogram(proposed, bins=10, range=(0, 10))[0]

    def p_value(temperature):
        p = np.exp((drawn - drawn.max()) / temperature).reshape(10, 400).sum(axis=1)
        return chisquare(counts, p / p.sum() * counts.sum()).pvalue

    assert p_value(0.5) > 0.01
    assert p_value(1.0) < 1e-4


def test_thompson_is_the_arg_max_and_a_cold_sample_too():
    for options in ({"rule": "thompson"}, {"rule": "sample", "temperature": 1e-300}):
        sampler = OneDraw(WHOLE, EbHypOptions(start_trials=6, **options))
        tried, proposed = asked_often(sampler, WHOLE, nine, 5)
        left = [k for k in range(1, 25) if {"k": k} not in tried]
        drawn = the_draw(sampler)(np.array([WHOLE[0].to_unit(k) for k in left]))[0]
        assert set(proposed) == {left[int(drawn.argmax())]}
    assert sampler.effective == pytest.approx(1.0)  # of the cold sample


def test_thompson_comes_close_to_the_largest_value_of_the_draw(run, mixed, hill):
    sampler = OneDraw(mixed, EbHypOptions(rule="thompson"))
    study = run(sampler, hill, 16, mixed)
    draw = the_draw(sampler, number=15)
    domain = SearchDomain(SearchSpace(distributions(mixed)).axes)
    everywhere = draw(domain.points_from_uniforms(np.random.default_rng(0).random((20_000, 3))))[0]
    found = draw(np.array([sampler.surrogate.next]))[0, 0]
    assert found > everywhere.max() - 0.1
    assert study.trials[-1].user_attrs["reason"] == "sample"


@pytest.mark.parametrize("rule", RULES)
def test_the_kernel_sees_allowed_points_only(rule, mixed, hill, run, monkeypatch):
    seen = []

    class Watched(PosteriorDraws):
        def __call__(self, points):
            seen.append(points)
            return super().__call__(points)

    monkeypatch.setattr(bayes, "PosteriorDraws", Watched)
    run(EbHypSampler(mixed, EbHypOptions(rule=rule)), hill, 6)
    domain = SearchDomain(mixed)
    assert len(seen) == 2
    for points in seen:
        assert len(points) >= 4096 - 6
        assert_allclose(points, domain.snap_points(points), atol=1e-12)


@pytest.mark.parametrize("rule", RULES)
def test_finds_better_than_it_began_with(rule, mixed, hill, run):
    study = run(EbHypSampler(mixed, EbHypOptions(rule=rule, temperature=0.2), seed=3), hill, 25)
    values = [trial.value for trial in study.trials]
    assert np.mean(values[-8:]) > np.mean(values[:8]) + 0.3
    assert [t.user_attrs["reason"] for t in study.trials] == ["random"] * 4 + ["sample"] * 21


def test_what_is_running_is_not_tried_again():
    space = (Axis("k", "", "int", 1, 6),)
    study = optuna.create_study(sampler=EbHypSampler(space, EbHypOptions(start_trials=1)))
    study.tell(study.ask(distributions(space)), 1.0)
    asked = [study.ask(distributions(space)).params["k"] for _ in range(5)]
    assert len({study.trials[0].params["k"], *asked}) == 6


def test_what_the_views_are_given(mixed, hill, run):
    sampler = EbHypSampler(mixed)
    assert sampler.surrogate is None
    trial = run(sampler, hill, 8).trials[-1]
    surrogate = sampler.surrogate
    assert (surrogate.kernel, surrogate.trials) == ("matern32", 7)
    assert surrogate.regression().posterior(np.array([surrogate.next]))[0].shape == (1,)
    notes = trial.user_attrs
    assert 1 <= notes["effective_candidates"] == sampler.effective <= 4096
    assert {"expected", "uncertainty"} <= notes.keys()


def test_the_effective_number_by_hand():
    p = posterior(np.log(np.array([1.0, 2.0, 4.0])), np.array([4.0, 2.0, 4.0]), 1.0)
    assert_allclose(p, [4 / 24, 4 / 24, 16 / 24])
    assert 1 / np.sum(p**2) == pytest.approx(2.0)  # 1/(1/36 + 1/36 + 16/36)
    assert_allclose(posterior(np.log(np.array([1.0, 4.0])), np.ones(2), 2.0), [1 / 3, 2 / 3])


@pytest.mark.parametrize(
    "axis", [WHOLE[0], Axis("k", "", "int", 1, 9), Axis("k", "", "int", 4, 12, log=True)]
)
def test_the_prior_is_what_rounds_to_each_value(axis):
    by_force = share_by_brute_force(axis)[round(axis.low) - 1 :]
    assert_allclose(prior_shares(SearchDomain([axis])), by_force, atol=1e-4)


def test_the_prior_of_several_axes_stands_in_the_domains_order():
    space = (
        Axis("k", "", "int", 1, 3, log=True),
        Axis("c", "", "choice", choices=("a", "b")),
        Axis("j", "", "int", 5, 5),
    )
    shares, single = prior_shares(SearchDomain(space)), prior_shares(SearchDomain(space[:1]))
    assert_allclose(shares, np.repeat(single, 2) / 2)
    assert shares.sum() == pytest.approx(1.0)
    assert single[0] > single[1] > single[2]
    units = [space[0].to_unit(k)[0] for k in (1, 2, 3) for _ in range(2)]
    assert [point[0] for point in SearchDomain(space).all_points()] == units
