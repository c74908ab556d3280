"""Releases: what is refused, the list of licences, the oldest versions, reproducible wheels."""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IDENTITY = ["-c", "user.name=a", "-c", "user.email=a@example.org"]


def loaded(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "packaging" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


releasing, bounds, licences = (loaded(name) for name in ("releasing", "bounds", "licences"))


def git(root, *command):
    subprocess.run(["git", *IDENTITY, *command], cwd=root, check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path):
    """A committed project of version 1.2.0."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed here")
    root = tmp_path / "checkout"
    for folder in ("app", "core", "resources", "resources/screenshots", "tunescope", "tests"):
        (root / folder).mkdir(parents=True)
        (root / folder / "__init__.py").write_text(f'"""{folder}."""\n')
    for name in ("README.md", "LICENSE"):
        (root / name).write_text(f"{name}\n")
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    version = tomllib.loads(text)["project"]["version"]
    (root / "pyproject.toml").write_text(text.replace(f'"{version}"', '"1.2.0"', 1))
    (root / "CHANGELOG.md").write_text("# Changes\n\n## 1.2.0\n\n- New.\n\n## 1.1.0\n\n- Old.\n")
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "all")
    return root


def test_a_clean_checkout_with_a_new_version_is_released(checkout):
    assert releasing.refusal(checkout) == ""


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda root: (root / "new.txt").write_text("x"), "The checkout has changes (new.txt);"),
        (lambda root: git(root, "tag", "v1.2.0"), "Version 1.2.0 is tagged already;"),
        (lambda root: git(root, "tag", "1.2.0"), "Version 1.2.0 is tagged already;"),
    ],
)
def test_what_cannot_be_released_is_refused_in_one_sentence(checkout, change, why):
    change(checkout)
    said = releasing.refusal(checkout)
    assert said.startswith(why)
    assert said.count("\n") == 0
    assert said.endswith(".")


@pytest.mark.parametrize("changes", ["", "## 1.2.0\n\n## 1.1.0\n\n- Old.\n", "## 1.2.01\n\n- x\n"])
def test_a_version_without_changes_is_refused(checkout, changes):
    (checkout / "CHANGELOG.md").write_text(changes)
    git(checkout, "commit", "--quiet", "-am", "changes")
    assert releasing.refusal(checkout).startswith("CHANGELOG.md says nothing of version 1.2.0")


def test_this_version_has_its_changes():
    version = releasing.version_of(ROOT)
    assert f"\n## {version}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_sums_are_those_of_sha256(tmp_path):
    (tmp_path / "b").write_bytes(b"abc")
    (tmp_path / "a").write_bytes(b"")
    (tmp_path / "SHA256SUMS").write_text("old")
    first, second = releasing.sums(tmp_path).splitlines()
    assert first == f"{hashlib.sha256(b'').hexdigest()}  a"
    assert second.startswith("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  b")


def test_wheel_and_sdist_are_the_same_to_the_byte_and_hold_the_program_alone(checkout, tmp_path):
    pytest.importorskip("hatchling")
    out = tmp_path / "out"
    out.mkdir()
    releasing.make_python_packages(checkout, out)
    (wheel,) = out.glob("*.whl")
    (sdist,) = out.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        held = {name.split("/")[0] for name in archive.namelist()}
        assert not [name for name in archive.namelist() if "screenshots" in name]
    assert held == {"app", "core", "resources", "tunescope", "tunescope-1.2.0.dist-info"}
    with tarfile.open(sdist) as archive:
        names = [name.split("/", 1)[1] for name in archive.getnames()]
    tops = {name.split("/")[0] for name in names}
    files = {"CHANGELOG.md", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml"}
    assert tops - {".gitignore"} == files | {"app", "core", "resources", "tunescope"}
    assert not [name for name in names if "screenshots" in name]


def test_the_oldest_versions_are_those_that_are_written():
    project = {
        "dependencies": ["numpy>=1.26", "pyqtgraph>=0.14,<0.15", "Qt==6.11.3"],
        "optional-dependencies": {"columnar": ["pyarrow>=15"], "test": ["pytest>=8", "ruff>=1"]},
    }
    wanted = {"numpy": "1.26", "pyqtgraph": "0.14", "Qt": "6.11.3", "pyarrow": "15", "pytest": "8"}
    assert bounds.oldest(project) == wanted
    with pytest.raises(ValueError, match="scipy names no oldest version"):
        bounds.oldest({"dependencies": ["scipy"], "optional-dependencies": {}})
    this = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert bounds.oldest(this)["numpy"]


def test_every_package_that_is_needed_is_listed_with_version_and_licence():
    text = licences.written()
    lines = text.partition("=" * 78)[0].splitlines()
    for name in ("numpy", "scikit-learn", "PySide6_Essentials", "numba", "llvmlite", "joblib"):
        version = metadata.version(name)
        (line,) = [one for one in lines if one.startswith(f"{name} {version}: ")]
        assert len(line.partition(": ")[2]) > 2
    assert not [one for one in lines if one.startswith(("pytest", "ruff", "mypy"))]
    assert [one for one in lines if one.startswith(f"Python {sys.version.split()[0]}: PSF-2.0")]
    assert "Redistribution and use in source and binary forms" in text


def test_known_faults_of_libraries_are_named_and_what_nobody_knows_is_said(monkeypatch, capsys):
    fault = {"id": "PYSEC-2023-1", "fix_versions": ["2.0", "1.9.1"]}
    libraries = [
        {"name": "sound", "version": "1.0", "vulns": []},
        {"name": "faulty", "version": "1.9", "vulns": [fault]},
        {"name": "strange", "skip_reason": "not on the index"},
    ]
    monkeypatch.setattr(releasing, "audit_report", lambda _site: libraries)
    assert releasing.audit(ROOT) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "faulty 1.9: PYSEC-2023-1, mended in 2.0, 1.9.1."
    assert lines[1] == "Nothing is known of the faults of these libraries: strange."
    libraries.pop(1)
    assert releasing.audit(ROOT) == 0
    monkeypatch.setattr(releasing, "audit_report", lambda _site: None)
    assert releasing.audit(ROOT) == 0
    assert "try again with a network" in capsys.readouterr().out
