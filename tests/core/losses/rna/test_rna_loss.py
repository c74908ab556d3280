"""The loss of molecules: derivatives against differences, long molecules, threads, memory."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import UnusableError
from core.losses.rna import build_rna, log_partition
from core.losses.rna import fold as fold_module
from core.losses.rna import rna_loss as loss_module
from core.losses.rna.fold import fold_in_logarithms, fold_molecule
from core.losses.rna.parameters import ASYMMETRY, MOTIFS, NAMES, TERMS, letter_codes, terms_of
from core.optimize.loss import Loss

STRUCTURE = "(((..((((...))))..(((....)))....)))......((.((((....)))).))."


def molecule(bases: int, seed: int) -> str:
    return "".join(np.random.default_rng(seed).choice(list("ACGU"), bases))


def with_structure(structure: str, seed: int) -> str:
    """Letters that pair where a structure pairs them, and anything elsewhere."""
    rng = np.random.default_rng(seed)
    letters = list(rng.choice(list("ACGUN"), len(structure)))
    opened: list[int] = []
    for place, sign in enumerate(structure):
        if sign == "(":
            opened.append(place)
        elif sign == ")":
            both = str(rng.choice(["AU", "UA", "CG", "GC", "GU", "UG"]))
            letters[opened.pop()], letters[place] = both
    return "".join(letters)


LETTERS = with_structure(STRUCTURE, 1)


def test_gradient_and_hessian_product_of_sixty_bases_against_differences() -> None:
    loss = build_rna([LETTERS], [STRUCTURE])
    assert sum(loss.dropped.values()) == 0
    rng = np.random.default_rng(1)
    w, step = 0.3 * rng.normal(size=loss.size), 1e-5
    _, gradient = loss.value_and_gradient(w)
    for place in rng.choice(loss.size, 40, replace=False):
        e = step * (np.arange(loss.size) == place)
        above, below = loss.value_and_gradient(w + e)[0], loss.value_and_gradient(w - e)[0]
        assert gradient[place] == pytest.approx((above - below) / (2 * step), abs=1e-7)
    v = rng.normal(size=loss.size)
    above, below = (loss.value_and_gradient(w + s * step * v)[1] for s in (1, -1))
    product = loss.point_at(w).product(v)
    np.testing.assert_allclose(product, (above - below) / (2 * step), atol=1e-6)
    assert v @ product > 0.0


def test_the_loss_is_what_penalty_learners_ask_for() -> None:
    loss = build_rna([LETTERS, "GGGAAACCC"], [STRUCTURE, "(((...)))"])
    assert isinstance(loss, Loss)
    assert (loss.examples, loss.size, loss.point_at(loss.initial_weights()).dense_hessian()) == (
        2,
        708,
        None,
    )
    assert loss.names == NAMES
    assert set(loss.sources) == set(MOTIFS)
    w = 0.1 * np.random.default_rng(0).normal(size=708)
    assert loss.log_losses(w).sum() == pytest.approx(loss.value_and_gradient(w)[0], rel=1e-12)
    assert (loss.point_at(w).diagonal() > 0.0).all()
    other = loss.for_data(["GGGAAACCC"], ["(((...)))"])
    assert other.value_and_gradient(w)[0] == pytest.approx(loss.log_losses(w)[1], rel=1e-12)


def test_what_is_returned_is_not_what_is_kept() -> None:
    loss = build_rna(["GGGAAACCC"], ["(((...)))"])
    w = loss.initial_weights()
    first = loss.value_and_gradient(w)[1]
    first[:] = 7.0
    assert loss.value_and_gradient(w)[1].max() < 7.0
    w[0] = 1.0  # the caller's array, changed in place, is another point
    assert loss.value_and_gradient(w)[0] == pytest.approx(
        build_rna(["GGGAAACCC"], ["(((...)))"]).value_and_gradient(w)[0], rel=1e-14
    )


def test_threads_and_kept_tables_do_not_change_results(monkeypatch: pytest.MonkeyPatch) -> None:
    letters = [molecule(20 + 7 * k, k) for k in range(20)]
    structures = ["." * len(one) for one in letters]
    w, v = 0.3 * np.random.default_rng(2).normal(size=(2, 708))

    def run(threads: int) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        loss = build_rna(letters, structures, threads=threads)
        value, gradient = loss.value_and_gradient(w)
        product = loss.point_at(w).product(v)
        return value, gradient, product, loss.point_at(w).product(w)

    alone = run(1)
    for one, other in zip(alone, run(3), strict=True):
        np.testing.assert_array_equal(one, other)
    monkeypatch.setattr(loss_module, "KEPT_BYTES", 200_000)
    for one, other in zip(alone, run(2), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(
    ("size", "bases"), [(0.5, 31), (0.5, 250), (3.0, 300), (10.0, 120), (50.0, 200)]
)
def test_scaled_sums_equal_those_in_logarithms_or_fall_back(size: float, bases: int) -> None:
    letters = molecule(bases, 5)
    w = np.random.default_rng(int(size)).uniform(-size, size, 708)
    codes, terms = letter_codes(letters), terms_of(w)
    found = fold_molecule(codes, terms, 3)
    logs, _ = fold_in_logarithms(codes, terms, np.zeros(TERMS), 3)
    assert found.log_z == pytest.approx(logs.log_z, rel=1e-11)
    np.testing.assert_allclose(found.uses, logs.uses, atol=1e-7)
    if size < 1.0:
        assert found.tables is not None
        P = logs.pair_probabilities()
        np.testing.assert_allclose(found.pair_probabilities(), P, atol=1e-11)
    assert (
        found.pair_probabilities().sum(axis=0) + found.pair_probabilities().sum(axis=1)
    ).max() <= 1.0 + 1e-7


def test_lengths_that_underflow_alone_count_where_the_asymmetry_makes_up_for_them() -> None:
    letters = 10 * "G" + "A" + 10 * "G" + "AAAA" + 10 * "C" + 29 * "A" + 10 * "C"
    w = np.zeros(708)
    weights = {"base_pair": 40.0, "internal_length": -19.0, "internal_asymmetry": 8.2}
    for start, weight in {**weights, "bulge_length": -40.0, "multi_base": -200.0}.items():
        w[[name.startswith(start) for name in NAMES]] = weight
    codes, terms = letter_codes(letters), terms_of(w)
    found = fold_molecule(codes, terms, 3)
    logs, _ = fold_in_logarithms(codes, terms, np.zeros(TERMS), 3)
    assert logs.uses[ASYMMETRY + 2 + 28] > 0.9  # a loop with one base on the one side, 29 beyond
    assert found.log_z == pytest.approx(logs.log_z, rel=1e-12)
    np.testing.assert_allclose(found.uses, logs.uses, atol=1e-9)


@pytest.mark.parametrize("weight", [-50.0, 50.0])
def test_all_parameters_at_the_extreme(weight: float) -> None:
    loss = build_rna([molecule(150, 3)], ["." * 150])
    w, v = np.full(708, weight), np.random.default_rng(0).normal(size=708)
    value, gradient = loss.value_and_gradient(w)
    step = 1e-6
    difference = loss.value_and_gradient(w + step * v)[0] - loss.value_and_gradient(w - step * v)[0]
    assert gradient @ v == pytest.approx(difference / (2 * step), rel=1e-3, abs=1e-2)
    assert np.isfinite(value)
    assert np.isfinite(loss.point_at(w).product(v)).all()


def test_hessian_product_where_logarithms_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    w, v = np.random.default_rng(4).normal(size=(2, 708))
    loss = build_rna([molecule(80, 9)], ["." * 80])
    expected = loss.point_at(w).product(v)
    monkeypatch.setattr(fold_module, "_SAFE_WEIGHT", 1.0)
    assert fold_molecule(letter_codes(molecule(80, 9)), terms_of(w), 3).tables is None
    found = build_rna([molecule(80, 9)], ["." * 80]).point_at(w).product(v)
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_a_first_guess_of_the_scale_that_is_far_off_is_corrected() -> None:
    codes, terms = letter_codes(molecule(500, 1)), np.zeros(TERMS)
    right = fold_molecule(codes, terms, 3)
    for c in (-1.0, 2.5):
        found = fold_molecule(codes, terms, 3, c)
        assert found.log_z == pytest.approx(right.log_z, rel=1e-12)
        assert found.tables is not None


def test_a_hairpin_under_large_weights_needs_no_logarithms(monkeypatch: pytest.MonkeyPatch) -> None:
    half = "".join(np.random.default_rng(0).choice(list("ACGU"), 198))
    back = half[::-1].translate(str.maketrans("ACGU", "UGCA"))
    codes = letter_codes(half + "GAAA" + back)
    terms = terms_of(np.abs(np.random.default_rng(0).standard_normal(708)))
    logs, _ = fold_in_logarithms(codes, terms, np.zeros(TERMS), 3)
    assert logs.log_z > 900.0  # more than a floating-point number holds at the first scale
    monkeypatch.delattr(fold_module, "fold_in_logarithms")
    for c in (-3.0, 0.4, 20.0):
        found = fold_molecule(codes, terms, 3, c)
        assert found.log_z == pytest.approx(logs.log_z, rel=1e-12)
        np.testing.assert_allclose(found.uses, logs.uses, atol=1e-9)


def test_without_parameters_structures_are_counted() -> None:
    # GNNNC: the empty structure and one pair; GGNNNCC: five pairs of G and C, one nest.
    assert np.exp(log_partition(np.zeros(708), "GNNNC")) == pytest.approx(2.0)
    assert np.exp(log_partition(np.zeros(708), "GGNNNCC")) == pytest.approx(1 + 4 + 1)


def test_molecules_that_cannot_be_used_are_named() -> None:
    with pytest.raises(UnusableError, match="molecule 2"):
        build_rna(["GGAAACC", "GGXAACC"], ["((...))", "((...))"])
    with pytest.raises(UnusableError, match="no molecules"):
        build_rna([], [])
