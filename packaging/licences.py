"""Write the list of every package that the program is made of: version, licence, and its text.

Run in the environment that the program is built in: python packaging/licences.py FILE. What is
listed follows from the metadata: the dependencies of tunescope with the extras for files, theirs,
and so on.
"""

from __future__ import annotations

import re
import sys
from importlib import metadata
from pathlib import Path

EXTRAS = ("columnar",)
HEAD = """Tunescope is under the MIT licence (LICENSE). It comes with the packages below, each
under its own licence. A version is the one in this very package.
"""
# Not Python packages, and so without metadata of their own.
BESIDES = """Python {python}: PSF-2.0 (https://docs.python.org/3/license.html)
Qt {qt}: LGPL-3.0-only (https://www.qt.io/licensing); its libraries are files of their own beside
    the program, and can be replaced by others.
LLVM, part of llvmlite: Apache-2.0 WITH LLVM-exception
Apache Arrow, part of pyarrow: Apache-2.0
OpenBLAS, part of numpy and scipy: BSD-3-Clause
"""
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def normal(name: str) -> str:
    """A package's name as it is compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(names: list[tuple[str, tuple[str, ...]]]) -> list[metadata.Distribution]:
    """The packages with these names and extras and all that they need, by name.

    Args:
        names: (name, extras).
    """
    from packaging.requirements import Requirement

    found: dict[str, metadata.Distribution] = {}
    waiting, done = list(names), set()
    while waiting:
        name, extras = waiting.pop()
        if (normal(name), extras) in done:
            continue
        done.add((normal(name), extras))
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:  # an optional one, or of another system
            continue
        found[normal(name)] = distribution
        for line in distribution.requires or ():
            wanted = Requirement(line)
            # "" for what is needed without any extra.
            fits = wanted.marker is None or any(
                wanted.marker.evaluate({"extra": extra}) for extra in ("", *extras)
            )
            if fits:
                waiting.append((wanted.name, tuple(sorted(wanted.extras))))
    return [found[name] for name in sorted(found)]


def licence_of(distribution: metadata.Distribution) -> str:
    """A package's licence in a few words, as its metadata tells it."""
    about = distribution.metadata
    if said := about.get("License-Expression"):
        return str(said)
    classes = [
        one.rpartition(" :: ")[2]
        for one in about.get_all("Classifier") or ()
        if one.startswith("License ::") and not one.endswith("OSI Approved")
    ]
    first = (about.get("License") or "").strip().partition("\n")[0]
    return ", ".join(classes) or first or "see its text"


def texts_of(distribution: metadata.Distribution) -> list[str]:
    """The texts of its licence that a package brings."""
    named = [
        file
        for file in distribution.files or ()
        if ".dist-info" in str(file) and re.search(r"licen[cs]e|copying|notice", file.name, re.I)
    ]
    paths = [Path(str(distribution.locate_file(file))) for file in named]
    texts = [path.read_text("utf-8", errors="replace") for path in paths if path.is_file()]
    return sorted({text.strip() for text in texts if text.strip()})


def written() -> str:
    """The whole list: a line a package, then the texts."""
    import PySide6

    every = [d for d in needed([("tunescope", EXTRAS)]) if normal(d.name) != "tunescope"]
    lines = [f"{one.name} {one.version}: {licence_of(one)}" for one in every]
    besides = BESIDES.format(python=sys.version.split()[0], qt=PySide6.__version__)
    texts = [
        f"{'=' * 78}\n{one.name} {one.version}\n{'=' * 78}\n" + "\n\n".join(texts_of(one))
        for one in every
    ]
    return f"{HEAD}\n" + "\n".join(lines) + f"\n\n{besides}\n" + "\n\n".join(texts) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(written(), encoding="utf-8")
