"""The Gaussian-process samplers: what they propose, why, and that it can be repeated."""

import math

import numpy as np
import optuna
import pytest
from optuna.trial import TrialState
from scipy import stats

from core.gp.proposal import Proposal
from core.samplers.bayes import (
    EbHypOptions,
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


def reasons(study):
    return [trial.user_attrs.get("reason") for trial in study.trials]


def posterior_at_proposal(sampler):
    """Mean and deviation of the surrogate behind a proposal, standardized."""
    surrogate = sampler.surrogate
    return surrogate.regression().posterior(np.array([surrogate.next]))


@pytest.mark.parametrize("kind", KINDS)
def test_finds_the_top_of_a_mixed_hill(kind, mixed, hill, run):
    study = run(kind(mixed, seed=3), hill, 35)
    assert study.best_value > -0.05
    assert reasons(study)[:6] == ["random"] * 6  # two for each axis
    assert set(reasons(study)[6:]) <= {"improve", "explore"}


@pytest.mark.parametrize("kind", [*KINDS, EbHypSampler])
def test_same_seed_same_trials_also_when_resumed_or_turned_round(kind, mixed, hill, run, climbed):
    whole = climbed(kind)
    recorded = [trial.value for trial in whole.trials[:9]]
    resumed = run(kind(mixed, seed=5), hill, 16, recorded=recorded)
    assert settings(whole) == settings(resumed)
    assert settings(run(kind(mixed, seed=6), hill, 6)) != settings(whole)[:6]
    down = run(kind(mixed, seed=5), lambda s: -hill(s), 16, direction="minimize")
    assert settings(whole) == settings(down)
    expected, mirrored = (
        [trial.user_attrs["expected"] for trial in study.trials[9:]] for study in (whole, down)
    )
    assert expected == pytest.approx([-value for value in mirrored])


@pytest.mark.parametrize(
    ("kind", "slope", "shift"), [(GpSampler, 4096.0, 512.0), (EbHypSampler, 4e4, -3.5e5)]
)
def test_the_unit_of_the_scores_does_not_matter(kind, slope, shift, mixed, hill, run, climbed):
    other = run(kind(mixed, seed=5), lambda s: slope * hill(s) + shift, 12)
    assert settings(climbed(kind))[:12] == settings(other)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_shown_early_changes_no_proposal(kind, mixed, hill, run, climbed, monkeypatch):
    monkeypatch.setattr(GpSampler, "_show_early", lambda *_args: None)
    assert settings(run(kind(mixed, seed=5), hill, 13)) == settings(climbed(kind))[:13]


@pytest.mark.parametrize(
    ("kernel", "acquisition"), [("se", "ei"), ("matern32", "pi"), ("matern52", "mean")]
)
def test_every_kernel_and_acquisition(kernel, acquisition, mixed, hill, run):
    sampler = GpSampler(mixed, GpOptions(kernel=kernel, acquisition=acquisition))
    study = run(sampler, hill, 12)
    assert len({tuple(s.values()) for s in settings(study)}) == 12
    assert (sampler.surrogate.kernel, sampler.surrogate.acquisition) == (kernel, acquisition)


def test_defined_by_running_with_all_kinds_of_parameters():
    def objective(trial):
        x = trial.suggest_float("x", 1e-3, 1e2, log=True)
        step = trial.suggest_float("step", 0, 1, step=0.25)
        k = trial.suggest_int("k", 10, 100, step=10)
        j = trial.suggest_int("j", 1, 64, log=True)
        extra = trial.suggest_float("extra", 0, 1) if trial.number % 2 else 0.0
        c = trial.suggest_categorical("c", ["u", "v", None, 2])
        return math.log10(x) ** 2 + step + (k - 50) ** 2 / 500 + j / 64 + extra + (c != "v")

    study = optuna.create_study(sampler=GpSampler(seed=0))
    study.optimize(objective, n_trials=30)
    assert study.best_value < 1.0
    assert reasons(study)[-1] in {"improve", "explore"}


def test_parameters_of_a_branch_are_proposed_too():
    asked = []

    def objective(trial):
        kind = trial.suggest_categorical("kind", ["near", "far"])
        x = trial.suggest_float("x", 0.0, 1.0)
        if kind == "far":
            return 1.0 + x
        asked.append(trial)
        return (x - 0.3) ** 2 + (trial.suggest_float("own", 0.0, 1.0) - 0.7) ** 2

    study = optuna.create_study(sampler=GpSampler(seed=0))
    study.optimize(objective, 28)
    assert study.best_value < 1e-3  # drawn uniformly, the parameter alone would leave 20 times that
    assert all("own" in trial.relative_params for trial in asked[-5:])
    surrogate = study.sampler.surrogate
    hidden = [study.trials[number].params["kind"] == "far" for number in surrogate.numbers]
    of_own = np.array(surrogate.points)[:, 2]  # kind has two entries before it
    assert (of_own[hidden] == 0.5).all()


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


def test_enqueued_trials_are_the_start_when_there_is_no_other(told):
    sampler = GpSampler(LINE, GpOptions(start_trials=0))
    study = told(sampler, ((x, x) for x in (1.0, 2.0, 3.0)), LINE)
    study.ask(distributions(LINE))
    assert reasons(study) == [None, None, None, "improve"]


def test_pending_trials_move_the_proposal(run):
    alone, crowded = (
        run(GpSampler(LINE, seed=2), lambda s: math.sin(2 * s["x"]), 6, LINE) for _ in range(2)
    )
    proposed = alone.ask(distributions(LINE)).params
    crowded.add_trial(
        optuna.trial.create_trial(
            state=TrialState.RUNNING, params=proposed, distributions=distributions(LINE)
        )
    )
    assert abs(crowded.ask(distributions(LINE)).params["x"] - proposed["x"]) > 0.5


@pytest.mark.parametrize(
    "sampler", [GpSampler(LINE, seed=1), EbHypSampler(LINE, EbHypOptions(rule="thompson"), seed=1)]
)
def test_failed_trials_are_left_behind(sampler):
    study = optuna.create_study(sampler=sampler, direction="maximize")
    study.optimize(lambda t: x if (x := t.suggest_float("x", 0, 10)) < 5 else math.nan, 20)
    failed = [trial for trial in study.trials if trial.state == TrialState.FAIL]
    assert 0 < len(failed) < 12
    assert study.best_value > 4.3


def test_infinite_scores_do_not_reach_the_surrogate(run):
    sampler = GpSampler(LINE, seed=1)
    run(sampler, lambda s: -math.inf if s["x"] > 5 else s["x"], 10, LINE)
    assert np.isfinite(sampler.surrogate.responses).all()


def test_without_the_warp_expectations_are_mean_and_deviation(mixed, hill, run):
    sampler = GpSampler(mixed, GpOptions(as_published=True))
    trial = run(sampler, hill, 10).trials[-1]
    surrogate, (mean, sd) = sampler.surrogate, posterior_at_proposal(sampler)
    assert trial.user_attrs["expected"] == pytest.approx(surrogate.mean + surrogate.scale * mean[0])
    # Of a score with noise, standardized by nine scores: Student's t.
    observed = np.sqrt((sd[0] ** 2 + surrogate.noise + 1 / 9) * 9 / 8)
    observed *= stats.t.ppf(0.975, 8) / stats.norm.ppf(0.975)
    assert trial.user_attrs["uncertainty"] == pytest.approx(surrogate.scale * observed, rel=1e-5)
    assert sampler.function_deviation == pytest.approx(surrogate.scale * sd[0], rel=1e-5)
    assert surrogate.trials == len(surrogate.points) == len(surrogate.responses) == 9
    assert surrogate.numbers == list(range(9))
    space = SearchSpace(distributions(mixed))
    assert space.setting(np.array(surrogate.next)) == pytest.approx(trial.params)


def test_what_is_expected_is_the_surrogates_posterior_in_units_of_the_score(mixed, hill, run):
    sampler = GpSampler(mixed)
    notes = run(sampler, hill, 10).trials[-1].user_attrs
    surrogate, (mean, sd) = sampler.surrogate, posterior_at_proposal(sampler)
    drawn = mean + sd * np.random.default_rng(0).standard_normal(100_000)
    above = surrogate.mean + surrogate.scale * drawn
    below = surrogate.median - surrogate.spread * np.expm1(
        (surrogate.median - above) / surrogate.spread
    )
    scores = np.where(above >= surrogate.median, above, below)
    low, middle, high = np.quantile(scores, [0.158655, 0.5, 0.841345])
    assert notes["expected"] == pytest.approx(middle, abs=0.02)
    assert sampler.function_deviation == pytest.approx((high - low) / 2, rel=0.02)
    assert notes["uncertainty"] > sampler.function_deviation


def test_an_accuracy_above_one_is_never_expected(run):
    space = (Axis("x", "", "float", 0.0, 1.0),)
    sampler = GpSampler(space, GpOptions(start_trials=3))
    sampler.limits = (0.0, 1.0)
    notes = run(sampler, lambda s: 0.5 + 0.5 * s["x"] ** 0.2, 9, space).trials[-1].user_attrs
    assert 0.0 < notes["expected"] <= 1.0
    assert notes["uncertainty"] <= 0.5


def test_two_disasters_do_not_move_the_next_trial(told):
    scores = {x: 0.95 + 0.02 * math.cos(x - 4.0) for x in (1.0, 2.2, 3.1, 5.2, 6.1, 7.0)}
    proposed = []
    for disaster in (0.88, 0.5, -20.0, -500.0):
        told_scores = scores | dict.fromkeys((9.3, 9.9), disaster)
        study = told(GpSampler(LINE, GpOptions(start_trials=0)), told_scores.items(), LINE)
        proposed.append(study.ask(distributions(LINE)).params["x"])
    assert proposed == pytest.approx([proposed[0]] * 4, abs=0.2)
    assert proposed == pytest.approx([4.0] * 4, abs=0.4)  # the top of the cosine


@pytest.mark.parametrize("tau", [0.0, 0.5, 0.8, 1.0])
def test_hybrid_explores_as_often_as_it_should(tau):
    sampler = HybridSampler(options=HybridOptions(tau=tau))
    draws = np.random.default_rng(0).random(20_000)
    unknown = Proposal(np.zeros(1), 0.0, 0.0, 1.0)
    share = np.mean([sampler.explores(None, unknown, rho) for rho in draws])
    assert share == pytest.approx(1 - tau, abs=0.01)


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
    sampler = VariableSampler(options=VariableOptions(rule=rule, tau=tau))
    assert sampler.explores(BestOf, Proposal(np.zeros(1), 0.0, mean, 0.5), rho) is explores


def test_an_exploring_trial_goes_where_least_is_known(run):
    sampler = HybridSampler(LINE, HybridOptions(tau=0.0, start_trials=3, as_published=True))
    trial = run(sampler, lambda s: s["x"], 8, LINE).trials[-1]
    grid = np.linspace(0, 1, 2001)[:, None]
    assert trial.user_attrs["reason"] == "explore"
    sd = sampler.surrogate.scale * sampler.surrogate.regression().posterior(grid)[1]
    assert sampler.function_deviation == pytest.approx(sd.max(), rel=1e-3)


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


@pytest.mark.parametrize(
    ("kind", "options"), [(HybridSampler, HybridOptions), (VariableSampler, VariableOptions)]
)
def test_side_lobe_of_the_sinc(kind, options, told):
    # Brofos, figure 1: three points on one side lobe; y(x) = sin(x)/(πx) on [−20, 20].
    def y(x):
        return float(np.sinc(x / np.pi) / np.pi)

    space = (Axis("x", "", "float", -20, 20),)
    sampler = kind(space, options(start_trials=0, kernel="se"))
    study = told(sampler, ((x, y(x)) for x in (6.8, 7.5, 8.9)), space)
    study.optimize(lambda trial: y(trial.suggest_float("x", -20, 20)), n_trials=23)
    assert study.best_value > 0.99 / np.pi


@pytest.mark.parametrize(("axes", "start"), [(1, 4), (3, 6), (4, 8), (6, 8)])
def test_two_evenly_spread_trials_for_each_axis(axes, start, run):
    space = tuple(Axis(f"x{k}", "", "float", 0, 1) for k in range(axes))
    study = run(GpSampler(space), lambda s: sum(s.values()), start + 1, space)
    assert reasons(study) == ["random"] * start + ["improve"]


def test_every_second_trial_is_near_the_best_and_none_where_papers_are_followed():
    cube = tuple(Axis(name, "", "float", 0, 1) for name in "xyz")
    points = np.random.default_rng(0).random((25, 3))

    def distance(trials, **options):
        """How far from the best of so many trials the next one is, along the farthest axis."""
        sampler = GpSampler(cube, GpOptions(start_trials=0, acquisition="ei", **options))
        study = optuna.create_study(sampler=sampler, direction="maximize")
        for point in points[:trials]:
            # A steep top at one corner: the opposite ones are uncertain.
            score = -sum(100 ** abs(value - 0.3) for value in point)
            params = dict(zip("xyz", point, strict=True))
            study.add_trial(
                optuna.trial.create_trial(
                    params=params, distributions=distributions(cube), value=score
                )
            )
        params, best = study.ask(distributions(cube)).params, study.best_params
        return max(abs(params[name] - best[name]) for name in "xyz")

    assert max(distance(trials) for trials in range(15, 26, 2)) <= 0.2 + 1e-6
    assert max(distance(trials, as_published=True) for trials in range(15, 26)) > 0.2


def test_where_all_near_the_best_was_tried_the_search_goes_on_elsewhere(run):
    space = (Axis("k", "", "int", 1, 40),)
    study = run(GpSampler(space, seed=1), lambda s: -abs(s["k"] - 20), 40, space)
    assert sorted(setting["k"] for setting in settings(study)) == list(range(1, 41))


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
    run(sampler := GpSampler(mixed, seed=3), hill, 2)
    assert sampler.surrogate is None  # one score says nothing of a neighbourhood
    study = run(sampler := GpSampler(mixed, seed=3), hill, 5)
    shown = sampler.surrogate
    assert (shown.trials, shown.proposes) == (4, False)
    known = SearchSpace(distributions(mixed))
    assert known.setting(np.array(shown.next)) == pytest.approx(study.trials[4].params)
    mean, _ = shown.regression().posterior(np.array(shown.points))
    assert mean[np.argmax(shown.responses)] > mean[np.argmin(shown.responses)]


def test_a_noisy_objective_is_measured_again_where_it_pays():
    """Of two arms whose noise is ten times their difference the better one is tried more often."""
    random = np.random.default_rng(0)
    study = optuna.create_study(sampler=GpSampler(), direction="maximize")
    study.optimize(
        lambda t: t.suggest_categorical("arm", ["a", "b", "c"]).count("b") + random.normal(0, 0.5),
        n_trials=40,
    )
    arms = [setting["arm"] for setting in settings(study)]
    assert min(map(arms.count, "abc")) >= 1
    assert arms.count("b") > 20
