"""Collaborative tuning by ranking: responses that are latent scores."""

import numpy as np
import optuna
import pytest

from core.samplers.search_space import distributions
from core.samplers.transfer.history import EarlierDataset, TuningHistory
from core.samplers.transfer.scot import ScotSampler
from core.space import Axis

LINE = (Axis("x", "", "float", 0.0, 1.0), Axis("y", "", "float", 0.0, 1.0))


def rising(count, seed=0, trials=8):
    """Datasets on which more of x and less of y is better, each on its own scale."""
    random = np.random.default_rng(seed)
    earlier = []
    for k in range(count):
        u = random.random((trials, 2))
        scores = 100 * random.random() + 10 ** random.uniform(-3, 3) * (u[:, 0] - 0.5 * u[:, 1])
        settings = tuple(dict(zip(("x", "y"), row, strict=True)) for row in u.tolist())
        statistics = tuple(random.standard_normal(3).tolist())
        earlier.append(EarlierDataset(f"d{k}", statistics, settings, tuple(scores.tolist())))
    return TuningHistory(tuple(earlier), (0.0, 0.0, 0.0))


def here(setting):
    return 3.0 + 0.1 * (setting["x"] - 0.5 * setting["y"])


@pytest.mark.parametrize("kernel", ["sqe", "mkl"])
@pytest.mark.parametrize("features", ["linear", "rbf"])
def test_it_begins_where_the_history_ranks_highest(run, kernel, features):
    sampler = ScotSampler(LINE, history=rising(8), kernel=kernel, features=features)
    study = run(sampler, here, 4, LINE)
    first = study.trials[0]
    assert first.user_attrs["reason"] == "past"
    assert here(first.params) > 3.07
    assert {t.user_attrs["reason"] for t in study.trials[1:]} == {"improve"}


def test_responses_are_standardized_and_in_the_order_of_the_scores():
    sampler = ScotSampler(LINE, history=rising(5))
    study = optuna.create_study(sampler=sampler, direction="maximize")
    for u in np.random.default_rng(4).random((5, 2)):
        params = dict(zip(("x", "y"), u.tolist(), strict=True))
        known = {"params": params, "distributions": distributions(LINE), "value": here(params)}
        study.add_trial(optuna.trial.create_trial(**known))
    study.ask(distributions(LINE))
    state = sampler.state
    everything = np.concatenate([*map(np.array, state.past_responses), state.responses])
    assert everything.mean() == pytest.approx(0.0, abs=1e-5)
    assert everything.std() == pytest.approx(1.0, abs=1e-5)
    scores = np.array([t.value for t in study.trials[:5]])
    assert (np.argsort(state.responses) == np.argsort(scores)).all()
    # The scale matches the means; the deviation is also that of the earlier datasets, which rise
    # as steeply.
    told = state.mean + state.scale * np.array(state.responses)
    assert told.mean() == pytest.approx(scores.mean(), rel=1e-5)
    assert told.std() == pytest.approx(scores.std(), rel=0.3)
    assert state.freedom > 1.0


def test_minimizing_is_maximizing_turned_round(run):
    up = run(ScotSampler(LINE, history=rising(4)), here, 4, LINE)
    turned = tuple(
        EarlierDataset(d.id, d.statistics, d.settings, tuple(-s for s in d.scores), maximize=False)
        for d in rising(4).datasets
    )
    history = TuningHistory(turned, (0.0, 0.0, 0.0))
    down = run(ScotSampler(LINE, history=history), lambda s: -here(s), 4, LINE, "minimize")
    assert [t.params for t in down.trials] == [t.params for t in up.trials]


def test_rbf_features_see_what_linear_ones_cannot(run):
    random = np.random.default_rng(2)
    earlier = []
    for k in range(10):
        u = random.random((9, 2))
        scores = -((u[:, 0] - 0.5) ** 2)
        settings = tuple(dict(zip(("x", "y"), row, strict=True)) for row in u.tolist())
        trials = settings, tuple(scores.tolist())
        earlier.append(EarlierDataset(f"d{k}", (float(k), 0.0, 0.0), *trials))
    history = TuningHistory(tuple(earlier), (5.0, 0.0, 0.0))

    def off(features):
        sampler = ScotSampler(LINE, history=history, features=features)
        return abs(run(sampler, lambda s: 0.0, 1, LINE).trials[0].params["x"] - 0.5)

    assert off("rbf") < 0.15 < off("linear")


def test_without_a_history_it_goes_on_alone(run):
    study = run(ScotSampler(LINE), here, 5, LINE)
    assert study.trials[0].user_attrs["reason"] == "random"
    assert len({tuple(t.params.values()) for t in study.trials}) == 5
