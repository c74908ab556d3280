"""Fitting a common surface: what is kept from trial to trial changes nothing but the time."""

import numpy as np
import pytest

from core.gp.kernels import Hyperparameters
from core.gp.transfer.coordinates import Coordinates
from core.gp.transfer.earlier_trials import DatasetTrials, earlier_trials
from core.gp.transfer.joint_fitting import EXACT, JointFitter
from core.gp.transfer.sparse import SparseRegression
from core.space import Axis

SPACE = tuple(Axis(f"x{k}", "", "float", 0.0, 1.0) for k in range(3))
NOW = np.random.default_rng(9).random((8, 3))
PROBES = np.random.default_rng(8).random((6, 3))


def earlier_of(datasets, trials=6):
    random = np.random.default_rng(datasets)
    told = []
    for _ in range(datasets):
        settings = [{f"x{k}": u for k, u in enumerate(row)} for row in random.random((trials, 3))]
        told.append(DatasetTrials(random.standard_normal(3), settings, [0.0] * trials))
    to_point = lambda setting: np.array([setting[f"x{k}"] for k in range(3)])  # noqa: E731
    return earlier_trials(told, (0.0, 0.0, 0.0), to_point, 3)


def responses(earlier, now):
    points = np.vstack([earlier.points, now])
    return np.sin(4 * points[:, 0]) - points[:, 1]


@pytest.mark.parametrize("kernel", ["mkl", "sqe", "printed"])
def test_trial_after_trial_equals_all_at_once(kernel):
    earlier = earlier_of(4)
    fitter = JointFitter(kernel, Coordinates(SPACE), earlier)
    for count in range(len(NOW) + 1):
        z = responses(earlier, NOW[:count])
        z[len(earlier.points) :] *= 1.0 + count / 10  # the present's responses change every time
        grown = fitter.fit(NOW[:count], z, np.random.default_rng(0))
    afresh = JointFitter(kernel, Coordinates(SPACE), earlier)
    afresh.theta, afresh._learned_at = fitter.theta, len(NOW)
    hyper = Hyperparameters(fitter.lengths, 1.0, fitter.noise)
    known = afresh.restored(hyper, fitter.constant, NOW, z)
    for one, other in zip(grown.posterior(PROBES), known.posterior(PROBES), strict=True):
        assert one == pytest.approx(other, abs=1e-6)


def test_hyperparameters_are_learned_now_and_then():
    earlier = earlier_of(20)
    fitter = JointFitter("mkl", Coordinates(SPACE), earlier)
    learned = []
    for count in range(len(NOW) + 1):
        fitter.fit(NOW[:count], responses(earlier, NOW[:count]), np.random.default_rng(0))
        learned.append(fitter._learned_at)
    assert sorted(set(learned)) == [0, 4]  # then not before 9: four percent of 129 are 5


@pytest.mark.parametrize("datasets", [60, 1000])
def test_many_earlier_trials_are_seen_through_some(datasets):
    earlier = earlier_of(datasets)
    assert len(earlier.points) > EXACT
    fitter = JointFitter("sqe", Coordinates(SPACE), earlier)
    z = responses(earlier, NOW)
    common = fitter.fit(NOW, z, np.random.default_rng(0))
    assert isinstance(common.inner, SparseRegression)
    assert len(common.X) < EXACT
    mean, sd = common.posterior(PROBES)
    truth = np.sin(4 * PROBES[:, 0]) - PROBES[:, 1]
    assert np.abs(mean - truth).max() < 0.15
    assert (sd > 0).all()


def test_with_neither_statistics_nor_a_history_it_is_one_process():
    earlier = earlier_of(0)
    for kernel in ("mkl", "sqe", "printed"):
        fitter = JointFitter(kernel, Coordinates(SPACE), earlier)
        z = responses(earlier, NOW)
        found = fitter.fit(NOW, z, np.random.default_rng(0)).posterior(NOW)[0]
        assert found == pytest.approx(z, abs=0.05)


def test_an_unknown_kernel_is_refused():
    with pytest.raises(ValueError, match="no common kernel"):
        JointFitter("linear", Coordinates(SPACE), earlier_of(0))
