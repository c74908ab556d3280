"""Every name that a file takes from another file of the project stands there, however late."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OURS = ("app", "core", "tunescope")
FOLDERS = (*OURS, "packaging", "tests")


def names_taken(path: Path) -> Iterator[str]:
    """`module:name` of every import of the project's own, also those within functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and _ours(node.module) and not node.level:
            yield from (f"{node.module}:{alias.name.strip('*')}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (f"{alias.name}:" for alias in node.names if _ours(alias.name))


def _ours(module: str | None) -> bool:
    return module is not None and module.split(".")[0] in OURS


def stands(taken: str) -> bool:
    module, name = taken.split(":")
    try:
        found = importlib.import_module(module)
        return not name or hasattr(found, name) or bool(importlib.import_module(f"{module}.{name}"))
    except ModuleNotFoundError as error:
        return not _ours(error.name)  # a file of an extra that is not installed is not looked into


def taken_by(folder: str) -> dict[str, str]:
    return {
        name: path.relative_to(ROOT).as_posix()
        for path in sorted((ROOT / folder).rglob("*.py"))
        for name in names_taken(path)
    }


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_name_that_is_imported_stands_where_it_is_looked_for(folder: str) -> None:
    missing = {name: where for name, where in taken_by(folder).items() if not stands(name)}
    assert missing == {}


def test_what_is_taken_and_what_stands(tmp_path: Path) -> None:
    path = tmp_path / "some.py"
    path.write_text(
        "import core.errors, json\n"
        "from app.look import icons\n"
        "def later():\n"
        "    from core.errors import nothing\n"
        "    import app.nowhere\n"
    )
    taken = list(names_taken(path))
    assert taken == ["core.errors:", "app.look:icons", "core.errors:nothing", "app.nowhere:"]
    assert [stands(name) for name in taken] == [True, True, False, False]
