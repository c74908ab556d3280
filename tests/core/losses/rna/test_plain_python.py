"""What prediction needs, run as one script without numba: what an exported script does."""

from __future__ import annotations

import ast
import importlib
import inspect
from typing import Any

import numpy as np
from numpy.testing import assert_allclose

from core.losses.rna import PREDICTION_MODULES, pair_probabilities
from core.losses.rna.decode import maximum_expected_accuracy

LETTERS = "GGCGAAAGCCAUGCNUUUGCAUACGGAAAC"


def run_plain() -> dict[str, Any]:
    """The modules' sources one after the other, with a decorator that does nothing."""
    names: dict[str, Any] = {"__name__": __name__, "compiled": lambda function: function}
    imported = []
    for module in PREDICTION_MODULES:
        tree = ast.parse(inspect.getsource(importlib.import_module(module)))
        for node in list(tree.body):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("core."):
                imported.append(node.module)
                tree.body.remove(node)
        exec(compile(tree, module, "exec"), names)
    known = {*PREDICTION_MODULES, "core.losses.compiled"}
    assert set(imported) <= known
    return names


def test_the_same_without_numba() -> None:
    w = 0.5 * np.random.default_rng(0).normal(size=708)
    plain = run_plain()
    P = plain["pair_probabilities"](w, LETTERS, 3)
    assert_allclose(P, pair_probabilities(w, LETTERS, 3), atol=1e-13)
    for gamma in (0.5, 4.0):
        expected = maximum_expected_accuracy(P, gamma)
        assert plain["maximum_expected_accuracy"](P, gamma) == expected
    assert "(" in expected


def test_logarithms_without_numba() -> None:
    w = np.random.default_rng(0).normal(size=708)
    plain = run_plain()
    plain["_SAFE_WEIGHT"] = 1.0  # no range is safe
    letters = LETTERS[:22]
    folded = plain["fold_molecule"](plain["letter_codes"](letters), plain["terms_of"](w), 3)
    assert folded.tables is None
    assert_allclose(folded.pair_probabilities(), pair_probabilities(w, letters, 3), atol=1e-11)
