"""The source of models outside scikit-learn, for the script that trains them again."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterable
from types import ModuleType

from core.export.bundle.modules import COMPILED, OURS, STANDARD, bundle_modules
from core.export.script.constructor import CodeWriter

_SHIM = "core.losses.compiled"  # `COMPILED` stands for it


def carried_source(imports: Iterable[str], code: CodeWriter) -> list[str]:
    """Source blocks of the own classes in `imports`, after those they call; `code` gets imports."""
    names = [line.removeprefix("from ").partition(" import ")[0] for line in imports]
    modules: dict[str, ModuleType] = {}
    for name in filter(is_ours, names):
        _collect(name, modules)
    compiled_module = modules.pop(_SHIM, None)
    source_bundle = bundle_modules(modules.values())
    for module_name in source_bundle.modules - {"numpy as np"}:  # which every script imports
        code.modules.add(f"import {module_name}")
    for module, imported_names in source_bundle.names.items():
        if module.split(".")[0] in STANDARD:
            code.modules.add(f"from {module} import {', '.join(sorted(imported_names))}")
        else:
            code.imports.setdefault(module, set()).update(imported_names)
    return [*([COMPILED] if compiled_module else []), *source_bundle.sources]


def is_ours(module: str) -> bool:
    """Whether a module is part of Tunescope, which a script cannot import."""
    return module.split(".")[0] in OURS


def _collect(name: str, modules: dict[str, ModuleType]) -> None:
    if name in modules:
        return
    module = importlib.import_module(name)
    if name != _SHIM:
        for statement in ast.parse(inspect.getsource(module)).body:
            if isinstance(statement, ast.ImportFrom) and is_ours(str(statement.module)):
                _collect(str(statement.module), modules)
    modules[name] = module
