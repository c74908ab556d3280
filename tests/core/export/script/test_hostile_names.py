"""Exported scripts of hostile names and of run folders that a stranger wrote: only text in them."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.datasets.reading import read_dataset
from core.errors import UnusableError
from core.export.exporters import export_from_folder
from core.tuning.plan import DataPlan, Plan

EVIL = [
    'a"+executed()+"', "b'+executed()+'", 'c"""\nexecuted()\n"""', "d\\", "e{executed()}",
    "f\\N{x}", "g'''\nexecuted()\n'''", 'h")\nexecuted()\n(', 'j\\"', "k%s", "l\u2028executed()",
]  # fmt: skip


def names_called(source: str) -> set[str]:
    """Every name that the program would look up."""
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


@pytest.mark.parametrize("name", EVIL)
def test_names_of_columns_classes_and_files_are_quoted(
    finish_run: Callable[..., Any], run_outside: Any, tmp_path: Path, name: str
) -> None:
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(90, 2)), columns=[f"{name} 1", f"{name} 2"])
    table[f"{name} c"] = random.choice([f"{name} red", f"{name} blue"], 90)
    table[f"{name} y"] = np.where(table.iloc[:, 0] > 0, f"{name} yes", f"{name} no")
    path = tmp_path / (name.replace("/", "") + ".csv")
    table.to_csv(path, index=False)
    dataset = read_dataset(str(path))
    made = finish_run(Plan(DataPlan(str(path)), "logistic", "random"), dataset, tmp_path / "made")
    source = export_from_folder(made.folder, tmp_path / "again.py").read_text()
    assert "executed" not in names_called(source)
    if name == EVIL[2]:  # one of them is run: the others are as much text
        ran = run_outside(f"exec(open({str(tmp_path / 'again.py')!r}).read())", tmp_path, str(path))
        assert ran.returncode == 0, ran.stderr
        assert f"accuracy on test rows, tuned: {made.score:.6f}" in ran.stdout


CALL = '"), executed(), ("'


@pytest.mark.parametrize(
    "change",
    [
        {"fingerprint": CALL},
        {"path": CALL},
        {"fingerprint": CALL, "format": "libsvm", "libsvm": {"zero_based": CALL}},
        {"read_csv": {"sep": CALL, "na_values": [CALL], "dtype": {CALL: CALL}}},
        {"read_csv": {"sep=executed(), encoding": "x"}},
        {"read_csv": {"lambda": "x"}},
        {"format": "libsvm", "libsvm": {"zero_based=executed(), offset": 1}},
    ],
)  # fmt: skip
def test_a_run_folder_that_a_stranger_wrote_is_quoted_or_refused(
    make_run: Callable[..., Any], tmp_path: Path, change: dict[str, Any]
) -> None:
    made = make_run()
    takeaway = json.loads(made.folder.takeaway_path.read_text())
    takeaway["source"] |= change
    made.folder.takeaway_path.write_text(json.dumps(takeaway))
    named = [*change.get("read_csv", ()), *change.get("libsvm", ())]
    if not all(map(str.isidentifier, named)) or "lambda" in named:
        with pytest.raises(UnusableError, match="is no way of reading a file"):
            export_from_folder(made.folder, tmp_path / "again.py")
        return
    assert "executed" not in names_called(
        export_from_folder(made.folder, tmp_path / "again.py").read_text()
    )
