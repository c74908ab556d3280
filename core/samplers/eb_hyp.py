"""EB-Hyp: settings drawn from the posterior of the hyperparameters (McInerney 2017).

Notation (the paper's letters; T is ours):
    η       a setting
    f       its score: a log likelihood, a log marginal likelihood or what stands for it
    p̃(X|η)  a function drawn from the performance model; log p̃ is a draw from a Gaussian process,
            standardized as every surrogate here
    p(η)    the hyperprior: uniform in the box, logarithmic ranges by their logarithm
    T       temperature: p̃(η|X) ∝ p̃(X|η)^(1/T) p(η), on the standardized scale

On the scale of the log likelihoods themselves, thousands of nats, a draw is a point mass, and a
sample is the arg max; T = 1 in units of the scores' standard deviation spreads the samples, T → 0
is Algorithm 1 as printed.
"""

from __future__ import annotations

import functools
import math
from dataclasses import replace

import numpy as np
from optuna.study import Study
from optuna.trial import FrozenTrial
from scipy.spatial import cKDTree
from scipy.stats import qmc

from core.gp.domain import SearchDomain
from core.gp.kernels import Array
from core.gp.pathwise import PosteriorDraws
from core.gp.proposal import ENUMERATED, SAME, scattered_around
from core.gp.regression import GpPosterior
from core.samplers.bayes import SEARCH, GpSampler
from core.samplers.gp_options import EbHypOptions
from core.samplers.observations import Observations, condition_on_pending
from core.samplers.proposing_sampler import note_more
from core.space import Axis

CANDIDATES = 4096
INCUMBENTS = 3  # best trials around which the arg max is searched more closely
DRAW, PICK = 4, 5  # purposes of a trial's random numbers, beside those of core.samplers.bayes
EFFECTIVE = "effective_candidates"  # the note on a trial


class EbHypSampler(GpSampler[EbHypOptions]):
    """Tries a draw from p̃(η|X), or its arg max (McInerney 2017, eq. 5; Algorithm 1, lines 5-7).

    Arguments of `GpSampler`. `effective`, also noted on the trial: among how many candidates the
    last setting was drawn in effect, 1/Σp̃²; None while there is none.
    """

    Options = EbHypOptions
    effective: float | None = None

    def _next_point(
        self, study: Study, trial: FrozenTrial, observed: Observations, regression: GpPosterior
    ) -> tuple[Array, str]:
        """A draw of the performance model, and a setting by its values of the settings."""
        # Running trials are left out: draws differ, so that workers do not crowd.
        without_pending = replace(observed, pending=observed.pending[:0])
        candidates, prior = self._candidates(trial, observed)
        conditioned = condition_on_pending(regression, without_pending)
        draw = PosteriorDraws(conditioned, self.random_generator(trial, DRAW))
        log_likelihood = draw(candidates)[0]
        probabilities = posterior(log_likelihood, prior, self.options.temperature)
        self.effective = float(1.0 / np.sum(probabilities**2))
        note_more(study, trial, EFFECTIVE, self.effective)
        if self.options.rule == "thompson":
            index = int(np.argmax(log_likelihood))
        else:
            random = self.random_generator(trial, PICK)
            index = int(random.choice(len(candidates), p=probabilities))
        return candidates[index], "sample"

    def _candidates(self, trial: FrozenTrial, observed: Observations) -> tuple[Array, Array]:
        """Allowed points that were not tried, shape (m, width), and their p(η), shape (m,).

        Every point of a small finite space, otherwise a uniform scrambled Sobol set. Only the arg
        max looks closer around the best trials: as candidates of a sample these would count a
        region twice.
        """
        domain = self._domain
        if domain.size <= ENUMERATED:
            points, prior = domain.all_points(), prior_shares(domain)
        else:
            random = self.random_generator(trial, SEARCH)
            sobol = qmc.Sobol(len(domain.space), scramble=True, rng=random)
            points = domain.points_from_uniforms(sobol.random_base2(CANDIDATES.bit_length() - 1))
            if self.options.rule == "thompson":
                best = np.argsort(observed.scores * (-1 if observed.maximize else 1), kind="stable")
                incumbents = observed.points[best[:INCUMBENTS]]
                around = [scattered_around(domain, point, random) for point in incumbents]
                points = np.vstack([points, *around])
            prior = np.ones(len(points))
        is_untried = _untried(points, observed.tried_points)
        return (points[is_untried], prior[is_untried]) if is_untried.any() else (points, prior)


def posterior(log_likelihood: Array, prior: Array, temperature: float) -> Array:
    """p̃(η|X) = Z⁻¹ exp(log p̃(X|η)/T) p(η) over candidates, shape (m,) (McInerney 2017, eq. 5).

    `log_likelihood`: the standardized draw (m,); `prior`: p(η) > 0 up to a factor (m,).
    """
    with np.errstate(over="ignore"):  # T → 0: everything but the largest is −∞
        weighted = np.exp((log_likelihood - log_likelihood.max()) / temperature) * prior
    return weighted / weighted.sum()


def prior_shares(domain: SearchDomain) -> Array:
    """The share of the box that rounds to each point of `SearchDomain.all_points`; sum 1."""
    shares = [_axis_shares(axis) for axis in domain.space]
    return functools.reduce(lambda a, b: np.multiply.outer(a, b).ravel(), shares)


def _axis_shares(axis: Axis) -> Array:
    if axis.kind == "choice":
        return np.full(len(axis.choices), 1.0 / len(axis.choices))
    if SearchDomain.value_count(axis) == 1:
        return np.ones(1)
    edges = np.arange(round(axis.low) - 0.5, round(axis.high) + 1.0)
    inside = [max(edge, axis.low / 2) if axis.log else edge for edge in edges]
    return np.diff([axis.to_unit(edge)[0] for edge in inside])


def _untried(points: Array, tried_points: Array) -> np.ndarray:
    """Which points were not tried and are not being tried, shape (m,), bool."""
    if len(tried_points) == 0:
        return np.ones(len(points), dtype=bool)
    apart, _ = cKDTree(tried_points).query(points, p=math.inf, distance_upper_bound=2 * SAME)
    return apart > SAME
