"""Figures of the product's names, types and keys, which keep it readable to a stranger."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

from core.datasets.task import Task

ROOT = Path(__file__).parent.parent
PRODUCT = ("app", "core", "tunescope")

# Names that say neither type nor role, of which a stranger learns nothing.
VAGUE = frozenset(
    re.findall(
        r"\w+",
        "one found said told own given whole there what taken tried made kept came asked known "
        "left rest other others again of at by way how much many few thing things something it "
        "them these those that this both each any all half part parts place places item obj val "
        "tmp info",
    )
)
# Short words that protocols ask for: of losses and estimators, samplers, views, files and Qt.
PROTOCOLS = frozenset(
    re.findall(
        r"\w+",
        "fit score ask tell draw paint read write start close run main names size width values "
        "clone event show hide data flags wants count load make move sort index resize",
    )
)
TASKS = frozenset({task.value for task in Task if task} | {"classification"})
MANY = 2  # module names that may stand more often, beside those of SHARED
SHARED = frozenset({"__init__.py", "__main__.py", "registry.py"})


@cache
def sources() -> dict[Path, str]:
    return {
        path.relative_to(ROOT): path.read_text(encoding="utf-8")
        for folder in PRODUCT
        for path in sorted((ROOT / folder).rglob("*.py"))
    }


@cache
def nodes() -> list[ast.AST]:
    return [node for text in sources().values() for node in ast.walk(ast.parse(text))]


def line_count() -> int:
    return sum(len(text.splitlines()) for text in sources().values())


def bindings(node: ast.AST) -> list[str]:
    """The names that a node binds: arguments, assigned names, loop variables."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        return [argument.arg for argument in arguments]
    return [node.id] if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else []


def literal_key(node: ast.AST) -> bool:
    """Whether a node looks something up by a key that is written out: x["key"], x.get("key")."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        key = node.slice
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr != "get" or not node.args:
            return False
        key = node.args[0]
    else:
        return False
    return isinstance(key, ast.Constant) and isinstance(key.value, str)


def compares_task(node: ast.AST) -> bool:
    if not isinstance(node, ast.Compare):
        return False
    sides = (node.left, *node.comparators)
    values = [
        value
        for side in sides
        for value in (side.elts if isinstance(side, (ast.Tuple, ast.List, ast.Set)) else [side])
    ]
    return any(isinstance(value, ast.Constant) and value.value in TASKS for value in values)


def is_one_word(name: str) -> bool:
    bare = name.lstrip("_")
    return bare.isalpha() and bare.islower() and len(bare) <= 6


def test_names_say_what_they_stand_for():
    names = [name for node in nodes() for name in bindings(node)]
    vague = Counter(name for name in names if name in VAGUE)
    assert 1000 * vague.total() / len(names) <= 6, vague.most_common(12)


def test_functions_are_called_by_more_than_one_short_word():
    functions = [
        node.name for node in nodes() if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    short = Counter(name for name in functions if is_one_word(name))
    free = Counter({name: count for name, count in short.items() if name not in PROTOCOLS})
    assert short.total() / len(functions) <= 0.12, short.most_common(12)
    assert free.total() / len(functions) <= 0.04, free.most_common(12)


def test_data_that_travels_has_types():
    keys = sum(literal_key(node) for node in nodes())
    assert 1000 * keys / line_count() <= 7, keys
    untyped = Counter({path: text.count("dict[str, Any]") for path, text in sources().items()})
    assert untyped.total() <= 100, untyped.most_common(12)


def test_tasks_are_asked_not_compared():
    assert sum(compares_task(node) for node in nodes()) <= 40


def test_no_module_name_stands_twice():
    names = Counter(path.name for path in sources() if path.name not in SHARED)
    assert [name for name, count in names.items() if count >= MANY] == []


def test_a_file_opens_with_one_line_and_is_short():
    for path, text in sources().items():
        assert len(text.splitlines()) <= 600, path
        docstring = ast.get_docstring(ast.parse(text)) or ""
        assert re.match(r"[^\n]+[.!?:]($|\n)", docstring), (path, docstring[:80])


def test_types_are_checked_strictly_in_all_of_it():
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    assert tools["mypy"]["strict"]
    assert set(tools["mypy"]["packages"]) == set(PRODUCT)
    assert not [entry for entry in tools["mypy"]["overrides"] if "app.*" in entry["module"]]
