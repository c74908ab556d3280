"""Marginals, Viterbi and likelihoods: against enumeration, and without numba."""

from __future__ import annotations

import inspect
import types

import numpy as np
import pandas as pd
import pytest

from core.losses.crf import chain
from core.losses.crf.chain import log_likelihoods, marginals, viterbi
from core.losses.crf.crf_loss import build_crf


@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize("size", [1.0, 50.0])
def test_predictions_equal_enumeration(tiny, K, size, enumerate_all) -> None:
    loss, w = tiny(K, 7)
    truth = enumerate_all(loss, size * w)
    p = marginals(size * w, K, loss.tokens)
    np.testing.assert_allclose(p, truth.marginals, atol=1e-10)
    np.testing.assert_array_equal(viterbi(size * w, K, loss.tokens), truth.best)
    own = log_likelihoods(size * w, K, loss.tokens, loss.codes)
    np.testing.assert_allclose(own, truth.log_likelihoods, atol=1e-10 * size)


def test_likelihoods_sum_to_the_loss_and_an_unknown_label_is_impossible(mixed_table) -> None:
    table, y = mixed_table([7, 30, 1, 12], 0, "uvwxy")
    loss = build_crf(table, "id", y, list("uvwxy"))
    w = np.random.default_rng(0).normal(size=loss.size)
    own = log_likelihoods(w, 5, loss.tokens, loss.codes)
    assert -own.sum() == pytest.approx(loss.value_and_gradient(w)[0], rel=1e-12)
    codes = loss.codes.copy()
    codes[10] = -1
    other = log_likelihoods(w, 5, loss.tokens, codes)
    assert other[1] == -np.inf
    np.testing.assert_array_equal(np.delete(other, 1), np.delete(own, 1))


def test_plain_python_from_the_source_gives_the_same(tiny, mixed_table) -> None:
    loss, w = tiny(3, 2)
    script = types.ModuleType("script")
    script.__dict__["compiled"] = lambda function: function
    lines = inspect.getsource(chain).splitlines()
    kept = [line for line in lines if not line.startswith("from core.")]
    exec(compile("\n".join(kept), chain.__name__, "exec"), script.__dict__)
    table, _ = mixed_table([5, 1, 2, 4], 9, "uvw")
    tokens = loss.encoding.encode_tokens(table)
    codes = np.zeros(tokens.token_count, dtype=np.int64)
    np.testing.assert_allclose(script.marginals(w, 3, tokens), marginals(w, 3, tokens), rtol=1e-12)
    np.testing.assert_array_equal(script.viterbi(w, 3, tokens), viterbi(w, 3, tokens))
    np.testing.assert_allclose(
        script.log_likelihoods(w, 3, tokens, codes),
        log_likelihoods(w, 3, tokens, codes),
        rtol=1e-12,
    )
    assert not hasattr(script.marginals, "py_func")
    assert hasattr(chain.add_rows, "py_func")


def test_a_long_sequence_keeps_its_precision() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"id": np.zeros(20_000, int), "c": rng.choice(list("ab"), 20_000)})
    y = rng.choice(["u", "v"], 20_000)
    loss = build_crf(table, "id", y, ["u", "v"])
    # Without transitions tokens are independent: the loss has a closed form.
    w = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, -1.0, 0.5, 0.2])
    scores = np.where((table["c"] == "a").to_numpy()[:, None], [1.0, -1.0], [0.5, 0.2])
    own = scores[np.arange(20_000), (y == "v").astype(int)]
    truth = np.logaddexp(scores[:, 0], scores[:, 1]).sum() - own.sum()
    assert loss.value_and_gradient(w)[0] == pytest.approx(truth, rel=1e-12)
    likelihood = log_likelihoods(w, 2, loss.tokens, loss.codes)[0]
    assert likelihood == pytest.approx(-truth, rel=1e-12)
