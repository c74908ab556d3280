"""Check that a release can be made, and make it: what `packaging/release` runs.

The wheel and the sdist are made twice, each time from what git has of the commit, in another
folder, and must be the same to the byte: every date in them is the commit's.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def git(root: Path, *command: str) -> str:
    """What git says; "" where it cannot."""
    done = subprocess.run(["git", "-C", str(root), *command], capture_output=True, check=False)
    return done.stdout.decode().strip() if done.returncode == 0 else ""


def version_of(root: Path) -> str:
    """The version, from the one place that has it."""
    return str(tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"])


def refusal(root: Path) -> str:
    """Why no release can be made of a checkout, a sentence; "" where it can."""
    version = version_of(root)
    if not git(root, "rev-parse", "HEAD"):
        return f"{root} is no checkout of git; make the release from one."
    if changed := git(root, "status", "--porcelain"):
        first = changed.splitlines()[0].split(maxsplit=1)[-1]
        more = len(changed.splitlines()) - 1
        others = f" and {more} more" if more else ""
        return f"The checkout has changes ({first}{others}); commit or remove them first."
    if git(root, "tag", "--list", f"v{version}", version):
        return (
            f"Version {version} is tagged already; raise the version in pyproject.toml and say in "
            "CHANGELOG.md what changed."
        )
    changes = (root / "CHANGELOG.md").read_text("utf-8") if (root / "CHANGELOG.md").exists() else ""
    section = re.search(rf"^## {re.escape(version)}\b.*\n((?:(?!## ).*\n?)*)", changes, re.M)
    if section is None or not section[1].strip():
        return f"CHANGELOG.md says nothing of version {version}; write what changed for users."
    return ""


def audit_report(site: Path) -> list[dict[str, Any]] | None:
    """What pip-audit knows of every library of a site-packages folder; None where it cannot ask."""
    place, report = ROOT / "build" / "audit", ROOT / "build" / "faults.json"
    report.unlink(missing_ok=True)
    venv.create(place, with_pip=True)
    tools = place / "bin"
    command = [tools / "pip-audit", "--path", site, "--progress-spinner", "off"]
    subprocess.run([tools / "pip", "install", "--quiet", "pip-audit"], check=False)
    try:
        subprocess.run([*command, "--format", "json", "--output", report], check=False)
        return list(json.loads(report.read_text("utf-8"))["dependencies"])
    except (OSError, ValueError):
        return None


def fault_sentences(libraries: list[dict[str, Any]] | None) -> tuple[list[str], list[str]]:
    """Of what pip-audit reports: the known faults, and what it does not know."""
    if libraries is None:
        return [], ["Known faults of libraries could not be asked for; try again with a network."]
    unknown = [str(library["name"]) for library in libraries if "skip_reason" in library]
    faults = [
        f"{library['name']} {library['version']}: {fault['id']}, mended in "
        f"{', '.join(fault['fix_versions']) or 'no version yet'}."
        for library in libraries
        for fault in library.get("vulns", ())
    ]
    unasked = f"Nothing is known of the faults of these libraries: {', '.join(unknown)}."
    return faults, [unasked] if unknown else []


def audit(site: Path) -> int:
    """Say what is known of the libraries' faults; 1 where there is any."""
    faults, gaps = fault_sentences(audit_report(site))
    print("\n".join([*faults, *gaps]) or "No library has a known fault.")
    return 1 if faults else 0


def build_once(root: Path, out: Path) -> None:
    """Wheel and sdist of the last commit, with its date."""
    held = subprocess.run(
        ["git", "-C", str(root), "archive", "--format=tar", "HEAD"], capture_output=True, check=True
    ).stdout
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(held)) as archive:
            archive.extractall(folder, filter="data")
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "-d", out],
            cwd=folder,
            env={**os.environ, "SOURCE_DATE_EPOCH": git(root, "log", "-1", "--format=%ct")},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )


def sums(folder: Path) -> str:
    """What sha256sum says of the files of a folder."""
    files = sorted(path for path in folder.iterdir() if path.name != "SHA256SUMS")
    return "".join(f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.name}\n" for p in files)


def make_python_packages(root: Path, out: Path) -> None:
    """Make wheel and sdist twice and keep them.

    Raises:
        SystemExit: the two differ.
    """
    with tempfile.TemporaryDirectory() as again:
        build_once(root, out)
        build_once(root, Path(again))
        if sums(Path(again)) != sums(out):
            raise SystemExit("The wheel or the sdist came out differently when made again.")


def make(root: Path, python_only: bool) -> int:
    """Everything into dist/release-VERSION; what was there before is replaced."""
    version = version_of(root)
    out = root / "dist" / f"release-{version}"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    make_python_packages(root, out)
    shutil.copy(root / "build" / "LICENCES.txt", out)
    if not python_only:
        for kind in ("_*.deb", "-*.tar.gz", "-*.AppImage"):
            # Packages of earlier versions may lie beside it.
            for path in (root / "dist").glob(f"tunescope{kind}"):
                if version in path.name:
                    shutil.copy(path, out)
    (out / "SHA256SUMS").write_text(sums(out), encoding="utf-8")
    print((out / "SHA256SUMS").read_text("utf-8"), end="")
    print(f"The release is in {out}. When it has been tried, tag it:")
    print(f"    git tag -a v{version} -m 'Tunescope {version}'")
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "check":
        if why := refusal(ROOT):
            sys.exit(f"release: {why}")
        sys.exit(0)
    if sys.argv[1] == "audit":
        sys.exit(audit(Path(sys.argv[2])))
    sys.exit(make(ROOT, "--python-only" in sys.argv[2:]))
