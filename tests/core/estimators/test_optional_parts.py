"""Optional parts are found without importing them, and a missing one says what to install."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from core.datasets.summary import summarize
from core.errors import UnusableError
from core.estimators import optional_parts
from core.estimators.dlgm.dlgm_classifier import DlgmClassifier, compiled_step
from core.estimators.optional_parts import (
    OPTIONAL_DEPENDENCIES,
    check_installed,
    is_installed,
    missing_package_text,
    optional_module,
)
from core.extras import install_command
from core.tuning.guidance.advice import advise
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem, read_data


def test_every_part_is_an_extra_of_the_distribution_that_brings_its_modules():
    project = Path(__file__).parents[3] / "pyproject.toml"
    extras = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    others = {"columnar", "test"}  # of files, and of these tests
    assert {*extras["optional-dependencies"]} - others == {*OPTIONAL_DEPENDENCIES}
    for name, part in OPTIONAL_DEPENDENCIES.items():
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
        f"install it with: {install_command('deep')}."
    )


def test_without_numba_a_model_of_compiled_loops_is_refused_before_its_first_trial(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    dataset = read_data(data := DataPlan("sample:iris"))
    with pytest.raises(UnusableError, match="numba, which compiles the loops of this model, is"):
        build_problem(Plan(data, "vote7", "random"), dataset)
    build_problem(Plan(data, "knn", "random"), dataset)


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
    with pytest.raises(UnusableError, match="need jax.*" + re.escape(install_command("deep"))):
        DlgmClassifier().fit(np.eye(6), [0, 1] * 3)


def test_the_registry_is_read_and_a_model_built_without_importing_a_library():
    code = (
        "import sys; from core.estimators.registry import MODELS; "
        "from core.estimators.optional_parts import is_installed; "
        "[(m.space(m.tasks[0]), m.extra and is_installed(m.extra)) for m in MODELS.values()]; "
        "from core.estimators.stored import plain_model; "
        "from core.space import default_setting; model = MODELS['dlgm']; "
        "model.build('binary', default_setting(model.space('binary')), 0); "
        "libraries = {'jax', 'jaxlib', 'lightgbm', 'xgboost', 'catboost'}; "
        "assert not libraries & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


BROKEN = {
    "raises": "raise RuntimeError('half an update\\nand more')",
    "leaves": "raise SystemExit(3)",
    "binary": "import ctypes; ctypes.CDLL('/nowhere/lib_lightgbm.so')",
    "lacks": "import no_such_module_at_all",
}


@pytest.fixture(params=BROKEN)
def broken(request, tmp_path, monkeypatch):
    """A package lightgbm that is found and cannot be imported."""
    (tmp_path / "lightgbm").mkdir()
    (tmp_path / "lightgbm" / "__init__.py").write_text(BROKEN[request.param], encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(optional_parts, "_broken", {})
    for name in [name for name in sys.modules if name.partition(".")[0] == "lightgbm"]:
        monkeypatch.delitem(sys.modules, name)
    return tmp_path


def test_a_package_that_breaks_on_import_is_named_in_one_sentence(broken):
    assert is_installed("lightgbm")  # as far as can be told without importing it
    for _ in range(2):
        with pytest.raises(UnusableError) as refused:
            check_installed("lightgbm")
        said = refused.value.sentence
        assert said.startswith("lightgbm is installed, but cannot be imported (")
        assert said.endswith(f"repair it with: {install_command('lightgbm')} --again.")
        assert "\n" not in said
    assert not is_installed("lightgbm")
    assert missing_package_text("lightgbm") == "lightgbm, which cannot be imported"


def test_a_run_of_a_broken_package_is_refused_and_the_advice_knows(broken):
    data = DataPlan("sample:clinic")
    dataset = read_data(data)
    with pytest.raises(UnusableError, match="lightgbm is installed, but cannot be imported"):
        build_problem(Plan(data, "lightgbm", "random"), dataset)
    said = {entry["name"]: entry for entry in advise(summarize(dataset))["models"]}
    assert not said["lightgbm"]["fits_task"]
    assert said["lightgbm"]["reason"] == "It needs lightgbm, which cannot be imported."
    build_problem(Plan(data, "knn", "random"), dataset)  # the rest goes on


def test_a_library_that_is_missing_is_offered_with_the_command_that_brings_it(monkeypatch):
    name = "xgboost"
    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(optional_parts, "_broken", {})
    data = DataPlan("sample:clinic")
    dataset = read_data(data)
    entry = {one["name"]: one for one in advise(summarize(dataset))["models"]}[name]
    assert entry["install"] == install_command(name)
    assert entry["reason"] == f"It needs {name}, which is not installed."
    with pytest.raises(UnusableError, match=re.escape(install_command(name))):
        build_problem(Plan(data, name, "random"), dataset)
