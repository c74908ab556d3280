"""Write the samplers as packages of the OptunaHub registry, each with the code that it needs.

    python packaging/optunahub/make_packages.py FOLDER

`optunahub.load_local_module("samplers/NAME", registry_root=FOLDER)` loads one, also where Tunescope
is not installed: the packages import NumPy, SciPy and Optuna alone.
"""

from __future__ import annotations

import argparse
import ast
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
IMPORT = re.compile(r"^(\s*from )(\.?core(?:\.\w+)*)( import )", re.MULTILINE)


def main() -> None:
    """Write all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    folder = parser.parse_args().folder
    for package in sorted(path.parent for path in HERE.glob("*/__init__.py")):
        write_package(package, folder / "samplers" / package.name)


def write_package(package: Path, out: Path) -> None:
    """A copy of the package with the modules that it imports, whose imports are relative."""
    shutil.copytree(package, out, ignore=shutil.ignore_patterns("__pycache__"))
    pending, modules = imported_modules(package / "__init__.py"), dict[str, Path]()
    while pending:
        name = pending.pop()
        if name not in modules:
            modules[name] = module_path(name)
            pending |= imported_modules(modules[name])
    for path in modules.values():
        target = out / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        for parent in target.relative_to(out).parents[:-1]:
            (out / parent / "__init__.py").touch()
        # The dots lead from the module's folder to that of the package.
        dots = "." * len(target.relative_to(out).parts)
        text = path.read_text(encoding="utf-8")
        target.write_text(IMPORT.sub(rf"\g<1>{dots}\g<2>\g<3>", text), encoding="utf-8")


def imported_modules(path: Path) -> set[str]:
    """The names of this program's modules that a module imports when it is imported or later."""
    names = set()
    for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "core":
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {name for name in inner if is_module(name)} or {node.module or ""}
    return names


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements below, without those for type checkers alone."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)):
            yield child
            yield from statements(child)


def is_module(name: str) -> bool:
    """Whether a name is that of a file, not of a folder or of something within."""
    return (ROOT / name.replace(".", "/")).with_suffix(".py").is_file()


def module_path(name: str) -> Path:
    """The file of a module or of a folder's own module."""
    path = ROOT / name.replace(".", "/")
    return path.with_suffix(".py") if is_module(name) else path / "__init__.py"


if __name__ == "__main__":
    main()
