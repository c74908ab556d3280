"""Modules of this program written into one file, so that a script carries what it calls.

The imports of the modules from one another leave, since everything stands in one file; their
imports of other libraries go to the top. Two private functions of one name are kept apart by
renaming the later one.
"""

from __future__ import annotations

import ast
import inspect
import io
import sys
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import ModuleType

OURS = ("core", "app", "resources")
STANDARD = sys.stdlib_module_names
# Stands for core.losses.compiled at the top of a script.
COMPILED = '''\
try:
    from numba import njit
except ImportError:

    def compiled(function):
        """The function as it is: numba is not installed."""
        return function

else:

    def compiled(function):
        """The function as machine code, kept beside this script where that is possible."""
        how = {"nogil": True, "error_model": "numpy"}
        how["fastmath"] = {"reassoc", "contract", "nsz", "arcp"}
        try:
            return njit(cache=True, **how)(function)
        except RuntimeError:  # no folder to keep the machine code in
            return njit(**how)(function)\
'''


@dataclass
class SourceBundle:
    """The sources of modules, ready to stand one below the other.

    Attributes:
        modules: whole modules of other libraries that are imported, as written.
        names: {module of another library: names imported from it}.
        sources: every module's source without its imports, in order.
    """

    modules: set[str] = field(default_factory=set)
    names: dict[str, set[str]] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)
    _source_of_name: dict[str, str] = field(default_factory=dict)  # top-level name: its source

    def add_module(self, module: ModuleType) -> None:
        """Take a module's source.

        Raises:
            ValueError: a public name stands for two things, or a module is imported whole.
        """
        text = inspect.getsource(module)
        aliases: list[str] = []
        removed_statements: list[ast.stmt] = []
        new_names: dict[str, str] = {}
        for statement in ast.parse(text).body:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                self._note_import(statement, aliases)
                removed_statements.append(statement)
            elif self._is_known(statement):
                removed_statements.append(statement)
            else:
                new_names |= self._note_definitions(statement, module.__name__)
        lines = text.splitlines()
        for statement in removed_statements:
            first = min([statement.lineno, *(d.lineno for d in _decorators(statement))])
            last = statement.end_lineno or first
            lines[first - 1 : last] = [""] * (last - first + 1)
        new_source = "\n".join([*aliases, *lines]) + "\n"
        self.sources.append(_tidy_blank_lines(_rename_names(new_source, new_names)))

    def _is_known(self, statement: ast.stmt) -> bool:
        """Whether an earlier module defined the very same."""
        names, source = _defined_names(statement), ast.unparse(statement)
        return bool(names) and all(self._source_of_name.get(name) == source for name in names)

    def _note_definitions(self, statement: ast.stmt, module: str) -> dict[str, str]:
        """Take note of what a statement defines; new names for private ones that are taken.

        Raises:
            ValueError: a public name stands for two things.
        """
        new_names = {}
        for name in _defined_names(statement):
            if name in self._source_of_name and not name.startswith("_"):
                raise ValueError(f"{name} of {module} stands for something else already")
            if name in self._source_of_name:
                new_names[name] = f"{name}_of_{module.rpartition('.')[2]}"
            self._source_of_name[new_names.get(name, name)] = ast.unparse(statement)
        return new_names

    def import_lines(self) -> tuple[list[str], list[str]]:
        """The import lines for the top of the file: of Python's own library, and of others."""
        lines = {module: f"import {module}" for module in self.modules}
        lines |= {
            f"{module} import": f"from {module} import {', '.join(sorted(names))}"
            for module, names in self.names.items()
        }
        order = sorted(lines, key=lambda key: (lines[key].startswith("from"), key))
        standard_lines = [lines[key] for key in order if key.split(".")[0].split()[0] in STANDARD]
        return standard_lines, [lines[key] for key in order if lines[key] not in standard_lines]

    def _note_import(self, statement: ast.Import | ast.ImportFrom, aliases: list[str]) -> None:
        if isinstance(statement, ast.Import):
            names = [ast.unparse(alias) for alias in statement.names]
            if any(name.split(".")[0] in OURS for name in names):
                raise ValueError(f"import {names[0]}: take the names that are needed from it")
            self.modules |= set(names)
            return
        module = str(statement.module)
        if module.split(".")[0] in OURS:
            pairs = [(alias.asname, alias.name) for alias in statement.names]
            aliases += [f"{new} = {old}" for new, old in pairs if new not in (None, old)]
        elif module != "__future__":
            imported_names = {ast.unparse(alias) for alias in statement.names}
            self.names[module] = self.names.get(module, set()) | imported_names


def bundle_modules(modules: Iterable[ModuleType]) -> SourceBundle:
    """The bundle of modules, each below those that it imports from.

    Raises:
        ValueError: see `Bundle.add`.
    """
    source_bundle = SourceBundle()
    for module in modules:
        source_bundle.add_module(module)
    return source_bundle


def _decorators(statement: ast.stmt) -> list[ast.expr]:
    return getattr(statement, "decorator_list", [])


def _defined_names(statement: ast.stmt) -> list[str]:
    """The top-level names that a statement defines."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return [statement.name]
    if isinstance(statement, ast.Assign):
        targets: list[ast.expr] = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    else:
        return []
    nodes = (node for target in targets for node in ast.walk(target))
    return [node.id for node in nodes if isinstance(node, ast.Name)]


def _rename_names(text: str, new_names: dict[str, str]) -> str:
    """The source with names replaced where they stand as names, not as attributes or in text."""
    if not new_names:
        return text
    lines = text.splitlines(keepends=True)
    occurrences = []
    previous_token = ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME and token.string in new_names and previous_token != ".":
            occurrences.append((*token.start, token.string))
        previous_token = token.string
    for row, column, name in reversed(occurrences):
        line = lines[row - 1]
        lines[row - 1] = line[:column] + new_names[name] + line[column + len(name) :]
    return "".join(lines)


def _tidy_blank_lines(text: str) -> str:
    """At most two blank lines in a row, none at the ends."""
    lines: list[str] = []
    for line in text.strip("\n").splitlines():
        if line.strip() or lines[-2:] != ["", ""]:
            lines.append(line.rstrip())
    return "\n".join(lines).strip("\n")
