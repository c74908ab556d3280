"""Print constraints for pip: the oldest version of each package that pyproject.toml allows.

python packaging/bounds.py oldest|newest, where newest constrains nothing. Of what only tests need,
pytest alone is held back: a newer one warns of what older packages bring for tests of their own.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

OF_THE_TESTS = ("pytest",)
_BOUND = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?(>=|==)([0-9.]+)")


def oldest(project: dict) -> dict[str, str]:
    """{package: the oldest version} of the dependencies and the extras.

    Raises:
        ValueError: a dependency names no oldest version.
    """
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"]]
    for name, wanted in extras.items():
        if name == "test":
            lines += [line for line in wanted if line.partition(">")[0] in OF_THE_TESTS]
        elif name != "more":  # which names other extras
            lines += wanted
    found = {}
    for line in lines:
        if (bound := _BOUND.match(line)) is None:
            raise ValueError(f"pyproject.toml: {line} names no oldest version")
        found[bound[1]] = bound[3]
    return found


def main(age: str) -> int:
    """Print the constraints, one a line."""
    if age == "oldest":
        text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
        for name, version in oldest(tomllib.loads(text)["project"]).items():
            print(f"{name}=={version}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
