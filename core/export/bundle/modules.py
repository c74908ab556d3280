"""Own modules written into one file, so that a script carries the code that it calls."""

import ast
import importlib
import inspect
import io
import sys
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from types import ModuleType

OURS = ("core", "app", "resources")
STANDARD = sys.stdlib_module_names
COMPILED_MODULE = "core.losses.compiled"
# Stands for that module at the top of a script.
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
class ImportLines:
    """What a program imports from libraries."""

    modules: set[str] = field(default_factory=set)  # whole, such as "numpy as np"
    names: dict[str, set[str]] = field(default_factory=dict)  # {module: names imported from it}

    def add(self, module: str, *names: str) -> None:
        self.names.setdefault(module, set()).update(names)

    def text(self) -> str:
        """The lines: those of Python's own library, and after a blank line the others."""
        lines = {module: f"import {module}" for module in self.modules}
        for module, names in self.names.items():
            lines[f"{module} import"] = f"from {module} import {', '.join(sorted(names))}"
        order = sorted(lines, key=lambda key: (lines[key].startswith("from"), key))
        standard_lines = [lines[key] for key in order if key.split(".")[0].split()[0] in STANDARD]
        library_lines = [lines[key] for key in order if lines[key] not in standard_lines]
        return "\n".join([*standard_lines, "", *library_lines])


@dataclass
class SourceBundle:
    """The sources of modules, ready to be written one below the other."""

    imports: ImportLines = field(default_factory=ImportLines)
    sources: list[str] = field(default_factory=list)  # without their imports, in order
    is_compiled: bool = False  # whether they need `COMPILED`
    # {top-level name: its source}
    _source_of_name: dict[str, str] = field(default_factory=dict)

    def add_module(self, module: ModuleType) -> None:
        """Add a source; ValueError: a public name comes twice, an own module is imported whole."""
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
            # A decorator stands above the line that the tree names.
            decorators = getattr(statement, "decorator_list", [])
            first = min([statement.lineno, *(decorator.lineno for decorator in decorators)])
            last = statement.end_lineno or first
            # Emptied, not taken out: the lines of the other statements keep their numbers.
            lines[first - 1 : last] = [""] * (last - first + 1)
        new_source = "\n".join([*aliases, *lines]) + "\n"
        self.sources.append(_tidy_blank_lines(_rename_names(new_source, new_names)))

    def _is_known(self, statement: ast.stmt) -> bool:
        names, source = _defined_names(statement), ast.unparse(statement)
        return bool(names) and all(self._source_of_name.get(name) == source for name in names)

    def _note_definitions(self, statement: ast.stmt, module: str) -> dict[str, str]:
        new_names = {}
        for name in _defined_names(statement):
            if name in self._source_of_name and not name.startswith("_"):
                raise ValueError(f"{name} of {module} stands for something else already")
            if name in self._source_of_name:
                new_names[name] = f"{name}_of_{module.rpartition('.')[2]}"
            self._source_of_name[new_names.get(name, name)] = ast.unparse(statement)
        return new_names

    @property
    def blocks(self) -> list[str]:
        """The sources, after the compiler that they need."""
        return [*([COMPILED] if self.is_compiled else []), *self.sources]

    def _note_import(self, statement: ast.Import | ast.ImportFrom, aliases: list[str]) -> None:
        if isinstance(statement, ast.Import):
            names = [ast.unparse(alias) for alias in statement.names]
            if any(name.split(".")[0] in OURS for name in names):
                raise ValueError(f"import {names[0]}: take the names that are needed from it")
            self.imports.modules |= set(names)
            return
        module = str(statement.module)
        if module.split(".")[0] in OURS:
            self.is_compiled = self.is_compiled or module == COMPILED_MODULE
            pairs = [(alias.asname, alias.name) for alias in statement.names]
            aliases += [f"{new} = {old}" for new, old in pairs if new not in (None, old)]
        elif module != "__future__":
            self.imports.add(module, *map(ast.unparse, statement.names))


def bundle_modules(modules: Iterable[ModuleType]) -> SourceBundle:
    """The bundle of modules, each after those that it imports from; raises as `add_module`."""
    source_bundle = SourceBundle()
    for module in modules:
        source_bundle.add_module(module)
    return source_bundle


def program_text(description: str, modules: Iterable[str], blocks: Sequence[str]) -> str:
    """A program of modules, each after those that it imports from, and of blocks behind them."""
    source_bundle = bundle_modules(map(importlib.import_module, modules))
    description = description.replace("\\", "\\\\").replace('"""', "'''")
    head = [f'"""{description}\n"""', "", "from __future__ import annotations", ""]
    head.append(source_bundle.imports.text())
    text = "\n\n\n".join(["\n".join(head), *source_bundle.blocks, *blocks])
    ast.parse(text)  # a program that Python cannot read must never leave the house
    return text


def _defined_names(statement: ast.stmt) -> list[str]:
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
    # By tokens: attributes and strings of that name stay.
    if not new_names:
        return text
    lines = text.splitlines(keepends=True)
    occurrences = []
    previous_token = ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME and token.string in new_names and previous_token != ".":
            occurrences.append((*token.start, token.string))
        previous_token = token.string
    # From the end, so that the places of the others stay right.
    for row, column, name in reversed(occurrences):
        line = lines[row - 1]
        lines[row - 1] = line[:column] + new_names[name] + line[column + len(name) :]
    return "".join(lines)


def _tidy_blank_lines(text: str) -> str:
    lines: list[str] = []
    for line in text.strip("\n").splitlines():  # at most two blank lines in a row
        if line.strip() or lines[-2:] != ["", ""]:
            lines.append(line.rstrip())
    return "\n".join(lines).strip("\n")
