"""Optional parts are found without importing them, and a missing one says what to install."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from core.errors import UnusableError
from core.estimators.dlgm.estimator import DlgmClassifier
from core.estimators.dlgm.training import compiled_step
from core.estimators.optional_parts import OPTIONAL_PARTS, is_installed, optional_module


def test_every_part_is_an_extra_of_the_distribution_that_brings_its_modules():
    project = Path(__file__).parents[3] / "pyproject.toml"
    extras = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    assert {*extras["optional-dependencies"]} - {"test"} == {*OPTIONAL_PARTS}
    for name, part in OPTIONAL_PARTS.items():
        brought = " ".join(extras["optional-dependencies"][name])
        assert part.extra == name
        assert all(module in brought for module in part.modules)


def test_what_cannot_be_imported_is_not_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    assert not is_installed("deep")
    with pytest.raises(UnusableError) as refused:
        optional_module("deep", "jax")
    assert refused.value.sentence == (
        "deep latent Gaussian models need jax, which is missing here; "
        'install it with: pip install "tunescope[deep]".'
    )


def test_half_a_part_is_not_there(monkeypatch):
    monkeypatch.setattr(
        "core.estimators.optional_parts.find_spec",
        lambda module: None if module == "onnxruntime" else object(),
    )
    assert not is_installed("onnx")
    assert is_installed("deep")


def test_a_fit_without_jax_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    compiled_step.cache_clear()
    with pytest.raises(UnusableError, match=r"need jax.*pip install .tunescope\[deep\]"):
        DlgmClassifier().fit(np.eye(6), [0, 1] * 3)


def test_the_model_is_built_without_importing_jax():
    code = (
        "import sys; from core.estimators.dlgm.model import DLGM; "
        "from core.estimators.optional_parts import is_installed; is_installed('deep'); "
        "from core.space import default_setting; "
        "DLGM.build('binary', default_setting(DLGM.space('binary')), 0); "
        "assert not {'jax', 'jaxlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
