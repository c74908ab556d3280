"""Python code of exported scripts: constructors of scikit-learn objects, sources of our own."""

import ast
import importlib
import inspect
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import BaseCrossValidator

from core.export.bundle.modules import (
    COMPILED_MODULE,
    OURS,
    ImportLines,
    SourceBundle,
    bundle_modules,
)

WIDTH = 96


@dataclass
class CodeWriter:
    """Expressions of objects, and the import lines that they need."""

    # {code of a list: its variable}, so that long column lists are written once
    names: dict[str, str] = field(default_factory=dict)
    imports: ImportLines = field(default_factory=ImportLines)

    def expression(self, value: Any, indent: int = 0) -> str:
        """Code of `value`, wrapped, with the parameters that are not at their defaults."""
        if isinstance(value, BaseEstimator):
            return self._constructor_call(value, indent)
        if isinstance(value, (list, tuple)):
            return self._sequence(value, indent)
        if isinstance(value, dict):
            pairs = ((self.expression(k), self.expression(v, indent + 4)) for k, v in value.items())
            return _bracketed_code("{", [f"{key}: {inner}" for key, inner in pairs], "}", indent)
        return self._simple_value(value)

    def carry(self, modules: Iterable[ModuleType]) -> SourceBundle:
        """The sources of own modules, whose imports the script gets."""
        source_bundle = bundle_modules(modules)
        self.imports.modules |= source_bundle.imports.modules
        for module, names in source_bundle.imports.names.items():
            self.imports.add(module, *names)
        return source_bundle

    def _constructor_call(self, estimator: BaseEstimator, indent: int) -> str:
        kind = type(estimator)
        self._import_name(kind)
        positional: list[str] = []
        keywords: list[str] = []
        # scikit-learn's own habit: the first parameter of a container is given by position.
        first = next(iter(inspect.signature(kind.__init__).parameters.values()), None)
        for name, value in _changed_parameters(estimator).items():
            lead = name in ("steps", "transformers", "transformer_list")
            code = self.expression(value, indent + 4)
            arguments = positional if lead and first is not None else keywords
            arguments.append(code if lead else f"{name}={code}")
        return _bracketed_code(f"{kind.__name__}(", positional + keywords, ")", indent)

    def _sequence(self, value: list[Any] | tuple[Any, ...], indent: int) -> str:
        codes = [self.expression(element, indent + 4) for element in value]
        opening, closing = "[]" if isinstance(value, list) else "()"
        if opening == "(" and len(codes) == 1:
            return f"({codes[0]},)"
        flat = opening + ", ".join(codes) + closing
        if flat in self.names:
            return self.names[flat]
        return _bracketed_code(opening, codes, closing, indent)

    def _simple_value(self, value: Any) -> str:
        if isinstance(value, BaseCrossValidator):
            self._import_name(type(value))
            # Fixed folds are a text of digits, one a row, which is broken into lines.
            return re.sub(r"\d{80}(?=\d)", r"\g<0>'\n    '", repr(value))
        if isinstance(value, type) or callable(value):
            return self._import_name(value)
        if isinstance(value, np.ndarray):
            self.imports.add("numpy", "array")
            kind = ", dtype=object" if value.dtype == object else ""
            return f"array({self.expression(value.tolist())}{kind})"
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, float) and (value != value or value in (np.inf, -np.inf)):
            return f'float("{value}")'
        return _quote_text(value) if isinstance(value, str) else repr(value)

    def _import_name(self, definition: Any) -> str:
        module = _public_module(definition)
        name = definition.__name__
        if module.split(".")[0] not in ("builtins", "core"):  # ours is carried
            self.imports.add(module, name)
        return name


def list_code(elements: list[Any]) -> str:
    """A flat list as `CodeWriter.expression` writes it, the key of `CodeWriter.names`."""
    return "[" + ", ".join(CodeWriter().expression(element) for element in elements) + "]"


def wrapped_list(elements: list[Any], indent: int = 0) -> str:
    """Code of a list filled line by line, for names and numbers."""
    if indent + len(flat := list_code(elements)) <= WIDTH - 20:
        return flat
    lines, line = [], ""
    for code in map(CodeWriter().expression, elements):
        if line and indent + 4 + len(line) + len(code) + 2 > WIDTH:
            lines.append(line.rstrip())
            line = ""
        line += code + ", "
    pad = " " * (indent + 4)
    body = "\n".join(pad + filled_line for filled_line in [*lines, line.rstrip()])
    return f"[\n{body}\n{' ' * indent}]"


def _changed_parameters(estimator: BaseEstimator) -> dict[str, Any]:
    signature = inspect.signature(type(estimator).__init__)
    defaults = {name: parameter.default for name, parameter in signature.parameters.items()}
    values = estimator.get_params(deep=False).items()
    return {name: value for name, value in values if not _is_same(value, defaults.get(name))}


def _is_same(value: Any, default: Any) -> bool:
    if isinstance(value, float) and isinstance(default, float):
        # NaN is not equal to itself.
        return value == default or (value != value and default != default)
    return type(value) is type(default) and repr(value) == repr(default)


def _bracketed_code(opening: str, codes: list[str], closing: str, indent: int) -> str:
    flat = opening + ", ".join(codes) + closing
    if "\n" not in flat and indent + len(flat) <= WIDTH:
        return flat
    pad = " " * (indent + 4)
    return opening + "\n" + "".join(f"{pad}{code},\n" for code in codes) + " " * indent + closing


def _public_module(definition: Any) -> str:
    module_path = getattr(definition, "__module__", None) or type(definition).__module__
    module = module_path.split("._")[0]
    if isinstance(definition, np.ufunc):
        return "numpy"
    # sklearn.impute, not sklearn.impute._base.
    return module if hasattr(importlib.import_module(module), definition.__name__) else module_path


def _quote_text(text: str) -> str:
    code = repr(text)
    if code.startswith("'") and '"' not in code and "\\'" not in code:
        return f'"{code[1:-1]}"'
    return code


def carried_source(imports: Iterable[str], code: CodeWriter) -> list[str]:
    """Source blocks of the own classes in `imports`, after those they call; `code` gets imports."""
    names = [line.removeprefix("from ").partition(" import ")[0] for line in imports]
    modules: dict[str, ModuleType] = {}
    for name in filter(is_ours, names):
        _collect(name, modules)
    return code.carry(modules.values()).blocks


def is_ours(module: str) -> bool:
    """Whether a module is part of Tunescope, which a script cannot import."""
    return module.split(".")[0] in OURS


def _collect(name: str, modules: dict[str, ModuleType]) -> None:
    if name in modules or name == COMPILED_MODULE:
        return
    module = importlib.import_module(name)
    for statement in ast.parse(inspect.getsource(module)).body:
        if isinstance(statement, ast.ImportFrom) and is_ours(str(statement.module)):
            _collect(str(statement.module), modules)
    modules[name] = module
