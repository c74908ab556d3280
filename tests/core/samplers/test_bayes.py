"""The Gaussian-process samplers: what they propose, why, and that it can be repeated."""

import math

import numpy as np
import optuna
import pytest
from optuna.trial import TrialState

from core.gp.proposal import Proposal
from core.samplers.bayes import (
    EbHypSampler,
    GpOptions,
    GpSampler,
    HybridOptions,
    HybridSampler,
    VariableOptions,
    VariableSampler,
)
from core.samplers.search_space import SearchSpace, distributions
from core.space import Axis

LINE = (Axis("x", "", "float", 0, 10),)
KINDS = [GpSampler, HybridSampler, VariableSampler]


def settings(study):
    return [trial.params for trial in study.trials]


@pytest.mark.parametrize("kind", KINDS)
def test_finds_the_top_of_a_mixed_hill(kind, mixed, hill, run):
    study = run(kind(mixed, seed=3), hill, 35)
    assert study.best_value > -0.05
    reasons = [trial.user_attrs["reason"] for trial in study.trials]
    assert reasons[:9] == ["random"] * 9  # three for each axis
    assert set(reasons[9:]) <= {"improve", "explore"}


@pytest.mark.parametrize("kind", [*KINDS, EbHypSampler])
def test_same_seed_same_trials_also_when_resumed(kind, mixed, hill, run):
    whole = run(kind(mixed, seed=5), hill, 16)
    recorded = [trial.value for trial in whole.trials[:9]]
    resumed = run(kind(mixed, seed=5), hill, 16, recorded=recorded)
    assert settings(whole) == settings(resumed)
    assert settings(run(kind(mixed, seed=6), hill, 6)) != settings(whole)[:6]


@pytest.mark.parametrize("kind", [*KINDS, EbHypSampler])
def test_minimizing_the_negative_is_the_same_search(kind, mixed, hill, run):
    up = run(kind(mixed, seed=1), hill, 14)
    down = run(kind(mixed, seed=1), lambda s: -hill(s), 14, direction="minimize")
    assert settings(up) == settings(down)
    expected = [trial.user_attrs.get("expected") for trial in up.trials[9:]]
    mirrored = [-trial.user_attrs.get("expected") for trial in down.trials[9:]]
    assert expected == pytest.approx(mirrored)


@pytest.mark.parametrize("kernel", ["se", "matern32", "matern52"])
@pytest.mark.parametrize("acquisition", ["ei", "pi", "mean"])
def test_every_kernel_and_acquisition(kernel, acquisition, mixed, hill, run):
    sampler = GpSampler(mixed, GpOptions(kernel=kernel, acquisition=acquisition))
    study = run(sampler, hill, 12)
    assert len({tuple(s.values()) for s in settings(study)}) == 12
    assert (sampler.surrogate.kernel, sampler.surrogate.acquisition) == (kernel, acquisition)


@pytest.mark.parametrize("kind", KINDS)
def test_defined_by_running_with_all_kinds_of_parameters(kind):
    def objective(trial):
        x = trial.suggest_float("x", 1e-3, 1e2, log=True)
        step = trial.suggest_float("step", 0, 1, step=0.25)
        k = trial.suggest_int("k", 10, 100, step=10)
        j = trial.suggest_int("j", 1, 64, log=True)
        extra = trial.suggest_float("extra", 0, 1) if trial.number % 2 else 0.0
        c = trial.suggest_categorical("c", ["u", "v", None, 2])
        return math.log10(x) ** 2 + step + (k - 50) ** 2 / 500 + j / 64 + extra + (c != "v")

    study = optuna.create_study(sampler=kind(seed=0))
    study.optimize(objective, n_trials=30)
    assert study.best_value < 1.0
    assert study.trials[-1].user_attrs["reason"] in {"improve", "explore"}


def test_a_single_observation_is_enough(run):
    sampler = GpSampler(LINE, GpOptions(start_trials=1))
    study = run(sampler, lambda s: s["x"], 2, LINE)
    assert study.trials[1].user_attrs["reason"] == "improve"
    assert abs(study.trials[1].params["x"] - study.trials[0].params["x"]) > 0.5


def test_only_choices_are_tried_once_each_then_it_is_done(run):
    space = (
        Axis("c", "", "choice", choices=("a", "b", "c")),
        Axis("d", "", "choice", choices=(True, False)),
    )
    sampler = GpSampler(space, GpOptions(start_trials=2))
    study = run(sampler, lambda s: float(s["c"] == "b") + s["d"], 6, space)
    assert len({tuple(s.values()) for s in settings(study)}) == 6
    assert sampler.exhausted
    assert "every setting" in sampler.finished_reason
    study.tell(study.ask(distributions(space)), 0.0)  # asking on is allowed


@pytest.mark.parametrize("kind", [GpSampler, EbHypSampler])
def test_constant_scores_and_enormous_scores(kind, mixed, run):
    for score in (lambda s: 1.0, lambda s: 1e300 * s["depth"], lambda s: 1e-300 * s["depth"]):
        study = run(kind(mixed), score, 10)
        assert len({tuple(s.values()) for s in settings(study)}) == 10


def test_duplicates_in_the_history(run):
    study = optuna.create_study(sampler=GpSampler(LINE, GpOptions(start_trials=0)))
    for value in (1.0, 1.0, 1.1):
        study.enqueue_trial({"x": 4.0})
        study.tell(study.ask(distributions(LINE)), value)
    assert study.ask(distributions(LINE)).params["x"] != 4.0


def test_pending_trials_move_the_proposal(run):
    def waves(setting):
        return math.sin(2 * setting["x"])

    alone = run(GpSampler(LINE, seed=2), waves, 6, LINE)
    proposed = alone.ask(distributions(LINE)).params["x"]
    crowded = run(GpSampler(LINE, seed=2), waves, 6, LINE)
    crowded.add_trial(
        optuna.trial.create_trial(
            state=TrialState.RUNNING, params={"x": proposed}, distributions=distributions(LINE)
        )
    )
    other = crowded.ask(distributions(LINE)).params["x"]
    assert abs(other - proposed) > 0.5


def test_failed_trials_are_left_behind(run):
    def score(setting):
        return setting["x"] if setting["x"] < 5 else float("nan")

    study = optuna.create_study(sampler=GpSampler(LINE, seed=1), direction="maximize")
    study.optimize(lambda t: score({"x": t.suggest_float("x", 0, 10)}), n_trials=25)
    failed = [trial for trial in study.trials if trial.state == TrialState.FAIL]
    assert 0 < len(failed) < 13
    assert study.best_value > 4.5


def test_infinite_scores_do_not_reach_the_surrogate(run):
    sampler = GpSampler(LINE, seed=1)
    run(sampler, lambda s: -math.inf if s["x"] > 5 else s["x"], 10, LINE)
    assert np.isfinite(sampler.surrogate.responses).all()


def test_all_trials_failed():
    study = optuna.create_study(sampler=GpSampler(LINE, GpOptions(start_trials=2)))
    for _ in range(5):
        study.tell(study.ask(distributions(LINE)), state=TrialState.FAIL)
    points = [trial.params["x"] for trial in study.trials]
    assert len(set(points)) == 5


def test_without_the_warp_expectations_are_mean_and_deviation(mixed, hill, run):
    sampler = GpSampler(mixed, GpOptions(as_published=True))
    trial = run(sampler, hill, 10).trials[-1]
    surrogate = sampler.surrogate
    mean, sd = surrogate.regression().posterior(np.array([surrogate.next]))
    assert trial.user_attrs["expected"] == pytest.approx(surrogate.mean + surrogate.scale * mean[0])
    assert trial.user_attrs["uncertainty"] == pytest.approx(surrogate.scale * sd[0], rel=1e-5)
    assert surrogate.trials == len(surrogate.points) == len(surrogate.responses) == 9
    assert surrogate.numbers == list(range(9))
    space = SearchSpace(distributions(mixed))
    assert space.setting(np.array(surrogate.next)) == pytest.approx(trial.params)


def test_what_is_expected_is_the_surrogates_posterior_in_units_of_the_score(mixed, hill, run):
    sampler = GpSampler(mixed)
    notes = run(sampler, hill, 10).trials[-1].user_attrs
    surrogate = sampler.surrogate
    mean, sd = surrogate.regression().posterior(np.array([surrogate.next]))
    drawn = mean + sd * np.random.default_rng(0).standard_normal(100_000)
    below = surrogate.median - surrogate.spread * np.expm1(
        -(drawn * surrogate.scale + surrogate.mean - surrogate.median) / surrogate.spread
    )
    above = surrogate.mean + surrogate.scale * drawn
    scores = np.where(above >= surrogate.median, above, below)
    low, middle, high = np.quantile(scores, [0.158655, 0.5, 0.841345])
    assert notes["expected"] == pytest.approx(middle, abs=0.02)
    assert notes["uncertainty"] == pytest.approx((high - low) / 2, rel=0.02)


def smooth(x):
    return 0.95 + 0.02 * math.cos(x - 4.0)


def next_after(disaster, **options):
    study = optuna.create_study(
        sampler=GpSampler(LINE, GpOptions(start_trials=0, **options)), direction="maximize"
    )
    for x in (1.0, 2.2, 3.1, 5.2, 6.1, 7.0, 9.3, 9.9):
        study.enqueue_trial({"x": x})
        trial = study.ask(distributions(LINE))
        study.tell(trial, disaster if x > 9 else smooth(x))
    return study.ask(distributions(LINE)).params["x"]


@pytest.mark.parametrize("disaster", [0.5, -20.0, -500.0])
def test_two_disasters_do_not_move_the_next_trial(disaster):
    assert next_after(0.88) == pytest.approx(next_after(disaster), abs=0.2)
    assert next_after(disaster) == pytest.approx(4.0, abs=0.4)  # the top of the cosine


def test_the_unit_of_the_scores_does_not_matter(mixed, hill, run):
    plain = run(GpSampler(mixed, seed=2), hill, 12)
    other = run(GpSampler(mixed, seed=2), lambda s: 4096.0 * hill(s) + 512.0, 12)
    assert settings(plain) == settings(other)


def test_enqueued_trials_are_the_start_when_there_is_no_other(run):
    sampler = GpSampler(LINE, GpOptions(start_trials=0))
    study = optuna.create_study(sampler=sampler, direction="maximize")
    for x in (1.0, 2.0, 3.0):
        study.enqueue_trial({"x": x})
    for _ in range(4):
        trial = study.ask(distributions(LINE))
        study.tell(trial, trial.params["x"])
    assert [t.user_attrs.get("reason") for t in study.trials] == [None, None, None, "improve"]


@pytest.mark.parametrize("tau", [0.0, 0.5, 0.8, 1.0])
def test_hybrid_explores_as_often_as_it_should(tau):
    sampler = HybridSampler(options=HybridOptions(tau=tau))
    draws = np.random.default_rng(0).random(20_000)
    unknown = Proposal(np.zeros(1), 0.0, 0.0, 1.0)
    share = np.mean([sampler.explores(None, unknown, rho) for rho in draws])
    assert share == pytest.approx(1 - tau, abs=0.01)


def test_hybrid_explores_about_one_trial_in_five(run):
    study = run(HybridSampler(LINE, seed=4), lambda s: math.sin(s["x"]), 64, LINE)
    reasons = [trial.user_attrs["reason"] for trial in study.trials[4:]]
    assert 4 <= reasons.count("explore") <= 21  # 12 expected, three standard deviations


class BestOf:
    """What a rule sees of a search."""

    best = 1.0


@pytest.mark.parametrize(
    ("rule", "tau", "mean", "rho", "explores"),
    [
        # ν = Φ((mean − 1)/0.5): Φ(−1) = .1587, Φ(0) = .5
        ("corrected", 1.0, 0.5, 0.15, True),
        ("corrected", 1.0, 0.5, 0.17, False),
        ("corrected", 2.0, 0.5, 0.31, True),
        ("corrected", 4.0, 1.0, 0.999, True),  # ντ = 2: always
        ("corrected", 1.0, -9.0, 1e-6, False),  # hopeless: never
        ("printed", 1.0, 0.5, 0.15, False),
        ("printed", 1.0, 0.5, 0.17, True),
        ("printed", 4.0, 1.0, 0.999, False),
        ("printed", 1.0, -9.0, 1e-6, True),  # hopeless: always
    ],
)
def test_variable_rule_by_hand(rule, tau, mean, rho, explores):
    unknown = Proposal(np.zeros(1), 0.0, mean, 0.5)
    assert (
        VariableSampler(options=VariableOptions(rule=rule, tau=tau)).explores(BestOf, unknown, rho)
        is explores
    )


def test_an_exploring_trial_goes_where_least_is_known(run):
    sampler = HybridSampler(LINE, HybridOptions(tau=0.0, start_trials=3, as_published=True))
    trial = run(sampler, lambda s: s["x"], 8, LINE).trials[-1]
    grid = np.linspace(0, 1, 2001)[:, None]
    assert trial.user_attrs["reason"] == "explore"
    sd = sampler.surrogate.scale * sampler.surrogate.regression().posterior(grid)[1]
    assert trial.user_attrs["uncertainty"] == pytest.approx(sd.max(), rel=1e-3)


def test_stops_when_certain_and_only_then(run):
    sampler = HybridSampler(LINE, HybridOptions(tau=0.5, stop_when_certain=True))
    study = optuna.create_study(sampler=sampler, direction="maximize")
    study.optimize(lambda t: -((t.suggest_float("x", 0, 10) - 3) ** 2), n_trials=60)
    assert len(study.trials) < 60
    assert study.best_params["x"] == pytest.approx(3.0, abs=0.05)
    assert "no better setting" in sampler.finished_reason
    forever = HybridSampler(LINE, HybridOptions(tau=0.5))
    run(forever, lambda s: -((s["x"] - 3) ** 2), len(study.trials) + 5, LINE)
    assert not forever.exhausted


def test_side_lobe_of_the_sinc():
    # Brofos, figure 1: three points on one side lobe; y(x) = sin(x)/(πx) on [−20, 20].
    space = (Axis("x", "", "float", -20, 20),)
    for sampler in (
        HybridSampler(space, HybridOptions(start_trials=0, kernel="se")),
        VariableSampler(space, VariableOptions(start_trials=0, kernel="se")),
    ):
        study = optuna.create_study(sampler=sampler, direction="maximize")
        for x in (6.8, 7.5, 8.9):
            study.enqueue_trial({"x": x})
        for _ in range(23):
            trial = study.ask(distributions(space))
            study.tell(trial, float(np.sinc(trial.params["x"] / np.pi) / np.pi))
        assert study.best_value > 0.99 / np.pi


@pytest.mark.parametrize(("axes", "start"), [(1, 4), (2, 6), (4, 12), (6, 12)])
def test_three_evenly_spread_trials_for_each_axis(axes, start, run):
    space = tuple(Axis(f"x{k}", "", "float", 0, 1) for k in range(axes))
    study = run(GpSampler(space), lambda s: sum(s.values()), start + 1, space)
    reasons = [trial.user_attrs["reason"] for trial in study.trials]
    assert reasons == ["random"] * start + ["improve"]


def test_every_second_trial_is_near_the_best_and_none_where_papers_are_followed():
    square = tuple(Axis(name, "", "float", 0, 1) for name in "xyz")
    random = np.random.default_rng(0)
    settings = [dict(zip("xyz", u, strict=True)) for u in random.random((25, 3))]

    def proposed(trials, **options):
        sampler = GpSampler(square, GpOptions(start_trials=0, acquisition="ei", **options))
        study = optuna.create_study(sampler=sampler, direction="maximize")
        for setting in settings[:trials]:
            # A steep top at one corner: the opposite ones are uncertain.
            study.add_trial(
                optuna.trial.create_trial(
                    params=setting,
                    distributions=distributions(square),
                    value=-sum(100 ** abs(v - 0.3) for v in setting.values()),
                )
            )
        params = study.ask(distributions(square)).params
        best = study.best_params
        return max(abs(params[name] - best[name]) for name in "xyz")

    odd = [proposed(trials) for trials in (15, 17, 19, 21, 23, 25)]
    assert max(odd) <= 0.2 + 1e-6
    assert max(proposed(trials, as_published=True) for trials in range(15, 26)) > 0.2


def test_where_all_near_the_best_was_tried_the_search_goes_on_elsewhere(run):
    space = (Axis("k", "", "int", 1, 40),)
    study = run(GpSampler(space, seed=1), lambda s: -abs(s["k"] - 20), 40, space)
    assert sorted(trial.params["k"] for trial in study.trials) == list(range(1, 41))


def test_few_trials_go_to_an_edge_where_the_best_is_inside(run):
    cube = tuple(Axis(name, "", "float", 0, 1) for name in "wxyz")

    def score(setting):  # flat and rough outside of a hill in the middle
        off = sum((value - 0.45) ** 2 for value in setting.values())
        return math.exp(-6 * off) + 0.02 * math.sin(60 * setting["x"])

    def at_edges(**options):
        trials = run(GpSampler(cube, GpOptions(**options)), score, 36, cube).trials[12:]
        return sum(min(t.params.values()) < 0.01 or max(t.params.values()) > 0.99 for t in trials)

    assert at_edges() < 6 < at_edges(as_published=True)


def test_a_best_setting_at_an_edge_is_still_found(run):
    space = tuple(Axis(name, "", "float", 0, 1) for name in "xyz")
    study = run(GpSampler(space), lambda s: s["x"] - s["y"] - (s["z"] - 0.5) ** 2, 30, space)
    assert study.best_value > 0.97


def test_the_first_trials_show_a_surrogate_that_decides_nothing(mixed, hill, run):
    sampler = GpSampler(mixed, seed=3)
    run(sampler, hill, 2)
    assert sampler.surrogate is None  # one score says nothing of a neighbourhood
    study = run(sampler := GpSampler(mixed, seed=3), hill, 5)
    shown = sampler.surrogate
    assert shown is not None
    assert not shown.proposes
    assert shown.trials == 4
    known = SearchSpace(distributions(mixed))
    assert known.setting(np.array(shown.next)) == pytest.approx(study.trials[4].params)
    mean, _ = shown.regression().posterior(np.array(shown.points))
    best, worst = np.argmax(shown.responses), np.argmin(shown.responses)
    assert mean[best] > mean[worst]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_shown_early_changes_no_proposal(kind, mixed, hill, run, monkeypatch):
    watched = settings(run(kind(mixed, seed=5), hill, 13))
    monkeypatch.setattr(GpSampler, "_show_early", lambda *_args: None)
    assert settings(run(kind(mixed, seed=5), hill, 13)) == watched
