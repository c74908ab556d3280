"""No function takes more than seven arguments: what belongs together is one frozen dataclass."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST = 7

# Constructors of scikit-learn's kind have one argument a hyperparameter, as that library requires.
ESTIMATORS = {
    "core/estimators/dlgm/dlgm_classifier.py: __init__",
    "core/estimators/lda/online_lda.py: __init__",
    "core/estimators/vote7/classifier.py: __init__",
}


def functions_with_many_arguments(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                given = node.args
                names = [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
                if len([name for name in names if name not in ("self", "cls")]) > MOST:
                    yield f"{path.relative_to(ROOT).as_posix()}: {node.name}"


def test_no_function_takes_more_than_seven_arguments():
    """Those of scikit-learn's kind are counted too, which shows that some would be found."""
    assert {
        name for part in ("app", "core") for name in functions_with_many_arguments(ROOT / part)
    } == ESTIMATORS
