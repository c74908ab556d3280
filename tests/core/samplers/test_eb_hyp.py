"""EB-Hyp: its proposals follow the drawn posterior, by brute force; and it works in any study."""

import math
from dataclasses import replace

import numpy as np
import optuna
import pytest
from numpy.testing import assert_allclose
from optuna.trial import TrialState
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


def asked_often(sampler, space, score, times, told=6):
    """Proposals for one trial after `told` others, one for each seed."""
    study = optuna.create_study(sampler=sampler, direction="maximize")
    for _ in range(told):
        trial = study.ask(distributions(space))
        study.tell(trial, score(trial.params))
    study.ask()  # proposes by itself; the proposals below are for the same trial
    frozen, known = study.trials[-1], SearchSpace(distributions(space))
    proposed = []
    for seed in range(times):
        sampler.seed = seed
        proposed.append(sampler.propose(study, frozen, known))
    return study, proposed


def the_draw(sampler, number):
    """The function behind the last proposal, made again from what the views are given."""
    random = np.random.default_rng([7, number, DRAW])
    return PosteriorDraws(sampler.surrogate.regression(), random)


def share_by_brute_force(axis):
    """How many of evenly spread unit values are each whole number."""
    values = [axis.from_unit([unit]) for unit in (np.arange(20_000) + 0.5) / 20_000]
    return np.bincount(values, minlength=round(axis.high) + 1)[1:] / 20_000


def test_samples_follow_the_drawn_posterior_times_the_prior():
    sampler = OneDraw(WHOLE, EbHypOptions(temperature=0.5, start_trials=6))
    study, proposed = asked_often(sampler, WHOLE, lambda s: -((s["k"] - 9) ** 2) / 30, 500)
    counts = np.bincount([setting["k"] for setting in proposed], minlength=25)[1:]
    tried = {trial.params["k"] for trial in study.trials[:6]}
    left = np.array([k not in tried for k in range(1, 25)])
    units = np.array([WHOLE[0].to_unit(k) for k in range(1, 25)])
    drawn = the_draw(sampler, 6)(units)[0]

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
    fine = (np.arange(4000)[:, None] + 0.5) / 4000
    drawn = the_draw(sampler, 6)(fine)[0]
    counts = np.histogram([setting["x"] for setting in proposed], bins=10, range=(0, 10))[0]

    def p_value(temperature):
        p = np.exp((drawn - drawn.max()) / temperature).reshape(10, 400).sum(axis=1)
        return chisquare(counts, p / p.sum() * counts.sum()).pvalue

    assert p_value(0.5) > 0.01
    assert p_value(1.0) < 1e-4


def test_thompson_is_the_arg_max_and_a_cold_sample_too():
    picked = []
    for options in ({"rule": "thompson"}, {"rule": "sample", "temperature": 1e-300}):
        sampler = OneDraw(WHOLE, EbHypOptions(start_trials=6, **options))
        study, proposed = asked_often(sampler, WHOLE, lambda s: -((s["k"] - 9) ** 2) / 30, 5)
        tried = {trial.params["k"] for trial in study.trials[:6]}
        left = [k for k in range(1, 25) if k not in tried]
        drawn = the_draw(sampler, 6)(np.array([WHOLE[0].to_unit(k) for k in left]))[0]
        assert {setting["k"] for setting in proposed} == {left[int(drawn.argmax())]}
        picked.append(proposed[0]["k"])
        assert options["rule"] == "thompson" or sampler.effective == pytest.approx(1.0)
    assert picked[0] == picked[1]


def test_thompson_comes_close_to_the_largest_value_of_the_draw(run, mixed, hill):
    sampler = OneDraw(mixed, EbHypOptions(rule="thompson"))
    study = run(sampler, hill, 16, mixed)
    draw = the_draw(sampler, 15)
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


def test_thousands_of_nats_are_the_same_search(mixed, hill, run):
    small = run(EbHypSampler(mixed, seed=1), hill, 10)
    large = run(EbHypSampler(mixed, seed=1), lambda s: -3.5e5 + 4e4 * hill(s), 10)
    assert [t.params for t in small.trials] == [t.params for t in large.trials]


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


def test_failed_trials_are_left_behind(run):
    study = optuna.create_study(
        sampler=EbHypSampler(LINE, EbHypOptions(rule="thompson"), seed=1), direction="maximize"
    )
    nan = float("nan")
    study.optimize(lambda t: x if (x := t.suggest_float("x", 0, 10)) < 5 else nan, n_trials=20)
    failed = [trial.number for trial in study.trials if trial.state == TrialState.FAIL]
    assert 0 < len(failed) < 12
    assert study.best_value > 4.3


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
    shares = prior_shares(SearchDomain([axis]))
    by_force = share_by_brute_force(axis)[round(axis.low) - 1 :]
    assert_allclose(shares, by_force, atol=1e-4)


def test_the_prior_of_several_axes_stands_in_the_domains_order():
    space = (
        Axis("k", "", "int", 1, 3, log=True),
        Axis("c", "", "choice", choices=("a", "b")),
        Axis("j", "", "int", 5, 5),
    )
    shares = prior_shares(SearchDomain(space))
    one = prior_shares(SearchDomain(space[:1]))
    assert_allclose(shares, np.repeat(one, 2) / 2)
    assert shares.sum() == pytest.approx(1.0)
    assert one[0] > one[1] > one[2]
    assert [p[0] for p in SearchDomain(space).all_points()] == sorted(
        [space[0].to_unit(k)[0] for k in (1, 2, 3)] * 2
    )
