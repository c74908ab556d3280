"""The samplers as packages of OptunaHub: loaded without Tunescope, as the registry asks."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tunescope import samplers

FOLDER = Path(__file__).parents[2] / "packaging/optunahub"
PACKAGES = sorted(path.parent.name for path in FOLDER.glob("*/__init__.py"))
FIELDS = ("author", "title", "description", "tags", "optuna_versions", "license")  # the registry's

LOAD = """
import importlib.abc, importlib.util, sys, types

class Refusal(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("core", "app", "tunescope", "PySide6", "numba", "sklearn"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Refusal())
hub = types.ModuleType("optunahub")

def load_module(package):  # as optunahub.load_local_module
    name = f"optunahub_registry.package.{package.replace('/', '.')}"
    path = f"{sys.argv[1]}/{package}/__init__.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

hub.load_module = load_module
sys.modules["optunahub"], sys.modules["optunahub_registry"] = hub, types.ModuleType("registry")
import optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)
for package in sys.argv[2:]:
    namespace = {"__name__": "example"}
    source = open(f"{sys.argv[1]}/samplers/{package}/example.py", encoding="utf-8").read()
    source = source.replace("n_trials=20", "n_trials=9")
    exec(compile(source, package, "exec"), namespace)
    assert len(namespace["study"].trials) == 9
"""


def test_every_sampler_runs_where_tunescope_is_not_installed(tmp_path):
    command = [sys.executable, str(FOLDER / "make_packages.py"), str(tmp_path)]
    subprocess.run(command, check=True)
    command = [sys.executable, "-c", LOAD, str(tmp_path), *PACKAGES]
    environment = os.environ | {"PYTHONPATH": ""}
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert process.returncode == 0, process.stderr


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_is_as_the_registry_asks(package):
    head, text = re.fullmatch(
        r"---\n(.*?)\n---\n(.*)", (FOLDER / package / "README.md").read_text(), re.DOTALL
    ).groups()
    assert tuple(line.split(": ")[0] for line in head.splitlines()) == FIELDS
    titles = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert titles == ["Abstract", "APIs", "Installation", "Example", "Others"]
    assert (FOLDER / package / "LICENSE").read_text() == (FOLDER.parents[1] / "LICENSE").read_text()
    # In the checkout it is loaded too, with the program's own classes.
    spec = importlib.util.spec_from_file_location(package, FOLDER / package / "__init__.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert all(getattr(module, name) is getattr(samplers, name) for name in module.__all__)
