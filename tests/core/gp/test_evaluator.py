"""The lens shows the posterior: its slice and surface equal a direct evaluation in score units."""

import itertools
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from core.gp.acquisition import expected_improvement, probability_of_improvement
from core.gp.evaluator import slice_through, surface
from core.gp.regression import Surrogate, response_to_beat
from core.gp.warping import UNLIMITED, warp_of
from core.records import to_plain
from core.space import Axis, setting_at, unit_vector

SPACE = (
    Axis("C", "", "float", 1e-3, 1e3, log=True),
    Axis("depth", "", "int", 1, 12),
    Axis("trees", "", "int", 1, 5000, log=True),
    Axis("shape", "", "choice", choices=("a", "b", "c")),
)


def example(maximize=True):
    random = np.random.default_rng(0)
    points = [unit_vector(SPACE, setting_at(SPACE, random.random(6))) for _ in range(15)]
    scores = np.array([70 + 5 * np.sin(4 * p[0]) + 3 * p[1] - 2 * p[3] for p in points])
    mean, scale = scores.mean(), scores.std()
    best = int(scores.argmax() if maximize else scores.argmin())
    return Surrogate(
        trials=15,
        points=[p.tolist() for p in points],
        responses=scores.tolist(),
        numbers=list(range(3, 18)),
        lengths=[0.5] * 6,
        amplitude=1.3,
        noise=0.01,
        mean=mean,
        scale=scale,
        maximize=maximize,
        incumbent=points[best].tolist(),
        next=unit_vector(SPACE, {"C": 2.0, "depth": 3, "trees": 40, "shape": "c"}).tolist(),
    )


def observed_deviation(surrogate, sd):
    """Of a score with noise, standardized by n scores: Student's t with n − 1 degrees, by hand."""
    n = len(surrogate.responses)
    variance = (sd**2 + surrogate.noise + 1 / n) * n / (n - 1)
    return np.sqrt(variance) * stats.t.ppf(0.975, n - 1) / stats.norm.ppf(0.975)


@pytest.mark.parametrize("maximize", [True, False])
@pytest.mark.parametrize("axis", ["C", "depth", "trees", "shape"])
def test_slice_equals_the_posterior(axis, maximize):
    surrogate = example(maximize)
    at = {"C": 0.5, "depth": 7, "trees": 10, "shape": "b"}
    seen = slice_through(surrogate, SPACE, axis, at)
    names = seen["labels"]
    values = [
        ("a", "b", "c")[int(x)] if names else (int(x) if axis in ("depth", "trees") else x)
        for x in seen["x"]
    ]
    points = np.array([unit_vector(SPACE, {**at, axis: value}) for value in values])
    mean, sd = surrogate.regression().posterior(points)
    sign = 1 if maximize else -1
    assert_allclose(seen["mean"], surrogate.mean + sign * surrogate.scale * mean, rtol=1e-9)
    assert_allclose(seen["sd"], surrogate.scale * observed_deviation(surrogate, sd), rtol=1e-6)
    best = response_to_beat(surrogate.regression())[0]
    ei = surrogate.scale * expected_improvement(mean, sd, best)
    assert_allclose(seen["acquisition"], ei, rtol=1e-5, atol=1e-12)
    assert seen["at"] == at


@pytest.mark.parametrize("maximize", [True, False])
def test_a_compressed_surrogate_is_shown_in_units_of_the_score(maximize):
    plain = example(maximize)
    warp = warp_of(plain.responses, maximize)
    surrogate = replace(
        plain, mean=warp.mean, scale=warp.scale, median=warp.median, spread=warp.spread
    )
    seen = slice_through(surrogate, SPACE, "C")
    points = np.array([unit_vector(SPACE, {**seen["at"], "C": C}) for C in seen["x"]])
    mean, sd = surrogate.regression().posterior(points)
    assert_allclose(seen["mean"], warp.to_scores(mean), rtol=1e-9)
    observed = observed_deviation(surrogate, sd)
    for key, width in (("band", 1), ("wide_band", 2)):
        ends = [warp.to_scores(mean - width * observed), warp.to_scores(mean + width * observed)]
        assert_allclose(seen[key], np.sort(ends, axis=0), rtol=1e-6)
    assert_allclose(seen["sd"], np.subtract(*seen["band"][::-1]) / 2)
    # Expected improvement in units of the score, by the average over draws.
    k, best = 100, max(plain.responses) if maximize else min(plain.responses)
    drawn = warp.to_scores(mean[k] + sd[k] * np.random.default_rng(0).standard_normal(400_000))
    gains = np.maximum(drawn - best if maximize else best - drawn, 0.0)
    assert seen["acquisition"][k] == pytest.approx(gains.mean(), rel=0.05, abs=1e-4)
    over = surface(surrogate, SPACE, "C", "depth", size=20)
    depth = over["y"].index(seen["at"]["depth"])
    assert_allclose(
        over["mean"][depth], slice_through(surrogate, SPACE, "C", points=20)["mean"], rtol=1e-9
    )


@pytest.mark.parametrize(("limits", "maximize"), [((73.0, 76.0), True), ((72.0, np.inf), False)])
def test_nothing_beyond_the_limits_of_a_score_is_shown(limits, maximize):
    surrogate = example(maximize)
    free, seen = (slice_through(surrogate, SPACE, "C", limits=ends) for ends in (UNLIMITED, limits))
    for key in ("mean", "band", "wide_band"):
        assert_allclose(seen[key], np.clip(free[key], *limits))
        assert (np.array(seen[key]) != free[key]).any()
    assert_allclose(seen["sd"], np.subtract(*seen["band"][::-1]) / 2)
    mean = np.array(surface(surrogate, SPACE, "C", "depth", size=9, limits=limits)["mean"])
    assert limits[0] <= mean.min() < mean.max() <= limits[1]


def test_slice_goes_through_the_incumbent_and_shows_the_trials():
    surrogate = example()
    seen = slice_through(surrogate, SPACE, "C")
    best = int(np.argmax(surrogate.responses))
    incumbent = setting_at(SPACE, np.array(surrogate.points[best]))
    assert seen["at"] == incumbent
    assert seen["next_x"] == pytest.approx(2.0)
    assert [trial["number"] for trial in seen["trials"]] == surrogate.numbers
    assert [trial["score"] for trial in seen["trials"]] == surrogate.responses
    assert seen["trials"][best]["x"] == incumbent["C"]


def test_sensible_places():
    surrogate = example()
    assert len(slice_through(surrogate, SPACE, "C", points=9000)["x"]) == 500
    assert slice_through(surrogate, SPACE, "depth")["x"] == [float(k) for k in range(1, 13)]
    trees = slice_through(surrogate, SPACE, "trees")["x"]
    assert all(x == int(x) for x in trees)
    assert (trees[0], trees[-1]) == (1.0, 5000.0)
    assert all(one < other for one, other in itertools.pairwise(trees))
    shape = slice_through(surrogate, SPACE, "shape")
    assert (shape["x"], shape["labels"]) == ([0.0, 1.0, 2.0], ["a", "b", "c"])


def test_other_acquisitions():
    mean, sd = example().regression().posterior(np.array(example().points))
    best = response_to_beat(example().regression())[0]
    assert (probability_of_improvement(mean, sd, best) <= 1).all()
    pi = slice_through(replace(example(), acquisition="pi"), SPACE, "C")["acquisition"]
    assert 0 <= min(pi) <= max(pi) <= 1
    by_mean = slice_through(replace(example(), acquisition="mean"), SPACE, "C")
    assert by_mean["acquisition"] == by_mean["mean"]


@pytest.mark.parametrize(("first", "second"), [("C", "depth"), ("trees", "C"), ("shape", "C")])
def test_surface_agrees_with_slices(first, second):
    surrogate = example()
    seen = surface(surrogate, SPACE, first, second, size=30)
    assert np.shape(seen["mean"]) == (len(seen["y"]), len(seen["x"]))
    column = len(seen["x"]) // 2
    x = seen["x"][column]
    value = seen["x_labels"][int(x)] if seen["x_labels"] else (int(x) if first == "trees" else x)
    across = slice_through(surrogate, SPACE, second, {first: value}, points=30)
    assert_allclose(across["x"], seen["y"])
    assert_allclose(across["mean"], np.array(seen["mean"])[:, column], rtol=1e-9)
    assert_allclose(across["sd"], np.array(seen["sd"])[:, column], rtol=1e-5, atol=1e-9)
    json.dumps(to_plain(seen), allow_nan=False)


def test_contours_lie_where_the_mean_has_their_level():
    surrogate = example()
    seen = surface(surrogate, SPACE, "C", "trees", size=60)
    assert seen["contours"]
    for line in seen["contours"]:
        places = zip(line["x"], line["y"], strict=True)
        settings = [{**seen["at"], "C": x, "trees": y} for x, y in places]
        points = np.array([unit_vector(SPACE, setting) for setting in settings])
        mean, _ = surrogate.regression().posterior(points)
        scores = surrogate.mean + surrogate.scale * mean
        assert np.abs(scores - line["level"]).max() < 0.05 * np.ptp(seen["mean"])


def test_flat_surface_has_no_contours():
    flat = replace(example(), responses=[1.0] * 15, mean=1.0, scale=1.0)
    assert surface(flat, SPACE, "C", "depth", size=10)["contours"] == []


def test_unknown_axis():
    with pytest.raises(KeyError, match="height"):
        slice_through(example(), SPACE, "height")


def test_imports_nothing_heavy():
    heavy = "('optuna', 'sklearn', 'pandas', 'scipy.stats', 'scipy.optimize', 'PySide6')"
    code = f"import sys, core.gp.evaluator; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
