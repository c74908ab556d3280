"""The package itself: what is public, how quickly it is there, and whose modules it takes."""

from __future__ import annotations

import ast
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tunescope

ROOT = Path(__file__).parents[2]


def python(*command: str, cwd: Path = ROOT, path: Path = ROOT) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if k != "PYTHONSAFEPATH"}
    env |= {"PYTHONPATH": str(path)}
    return subprocess.run(
        [sys.executable, *command], cwd=cwd, env=env, capture_output=True, text=True, timeout=120
    )


def test_every_public_name_is_there_and_explained():
    assert sorted(tunescope.__all__) == tunescope.__all__
    for name in tunescope.__all__:
        found = getattr(tunescope, name)
        assert found.__name__ == name
        assert found.__doc__
        assert name in dir(tunescope)
    with pytest.raises(AttributeError, match="no attribute 'penalty'"):
        _ = tunescope.penalty


def test_type_checkers_see_the_same_names():
    stub = Path(tunescope.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    imports = [node for node in ast.parse(stub).body if isinstance(node, ast.ImportFrom)]
    names = set()
    for node in imports:
        module = importlib.import_module(node.module)
        for alias in node.names:
            names |= set(module.__all__) if alias.name == "*" else {alias.asname}
            assert alias.name == "*" or hasattr(module, alias.name)
    assert names == set(tunescope.__all__)


def test_importing_it_imports_nothing_else():
    code = "import sys; before = set(sys.modules); import tunescope; "
    code += "print(sorted(set(sys.modules) - before))"
    assert python("-c", code).stdout == "['tunescope']\n"


@pytest.mark.parametrize(("package", "name"), [("core", "GpSampler"), ("resources", "tune")])
def test_a_package_of_somebody_else_is_refused_unexecuted(tmp_path, package, name):
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").write_text("print('executed')\n")
    (tmp_path / "use.py").write_text(f"import tunescope\ntunescope.{name}\n")
    ran = python("use.py", cwd=tmp_path)
    assert ran.returncode == 1
    assert ran.stdout == ""
    assert f"comes before Tunescope's own “{package}”; rename it" in ran.stderr.splitlines()[-1]


def test_as_a_module_it_is_the_command_line():
    assert python("-m", "tunescope", "strategies").stdout.startswith("mm")
