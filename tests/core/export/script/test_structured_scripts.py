"""Exported scripts of sequences and molecules: alone with numpy they say what the model says."""

from __future__ import annotations

import ast
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from structured_runs import Run, crf_run, rna_run

from core.datasets.files.dot_brackets import dot_bracket_text
from core.export.bundle.modules import bundle_modules
from core.export.exporters import export_from_folder

Outside = Callable[..., subprocess.CompletedProcess[str]]
# Everything but Python's own library, numpy and (where it is allowed) numba is out of reach.
RUN = """
import runpy
class Missing:
    names = sys.argv[1].split(",")
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.names:
            raise ModuleNotFoundError(f"{name} is not installed here", name=name)
sys.meta_path.insert(0, Missing())
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
OTHERS = "pandas,scipy,sklearn,joblib,skops"


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return crf_run(tmp_path_factory.mktemp("crf") / "run")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return rna_run(tmp_path_factory.mktemp("rna") / "run")


@pytest.mark.parametrize("missing", [f"{OTHERS},numba", OTHERS])
def test_tags(tagger: Run, run_outside: Outside, tmp_path: Path, missing: str) -> None:
    script = export_from_folder(tagger.folder, tmp_path / "predict_tags.py")
    tagger.table[["tag", "length", "word", "sequence"]].to_csv(tmp_path / "new.csv", index=False)
    ran = run_outside(RUN, tmp_path, missing, script.name, "new.csv", "out.csv")
    assert (ran.returncode, ran.stderr) == (0, f"{len(tagger.table)} predictions: out.csv\n")
    said = pd.read_csv(tmp_path / "out.csv")
    assert said["sequence"].tolist() == tagger.table["sequence"].tolist()
    assert said["prediction"].tolist() == tagger.model.predict(tagger.features).tolist()
    shares = tagger.model.predict_proba(tagger.features)
    np.testing.assert_allclose(
        said.iloc[:, -shares.shape[1] :].to_numpy(dtype=float), shares, atol=1e-12
    )


@pytest.mark.parametrize("missing", [f"{OTHERS},numba", OTHERS])
def test_structures(folder: Run, run_outside: Outside, tmp_path: Path, missing: str) -> None:
    script = export_from_folder(folder.folder, tmp_path / "predict_structures.py")
    folder.table[["id", "sequence"]].to_csv(tmp_path / "new.csv", index=False)
    ran = run_outside(RUN, tmp_path, missing, script.name, "new.csv")
    assert (ran.returncode, ran.stderr) == (0, "")
    (tmp_path / "out.csv").write_text(ran.stdout)
    said = pd.read_csv(tmp_path / "out.csv")
    assert said["id"].tolist() == folder.table["id"].tolist()
    assert said["structure"].tolist() == folder.model.predict(folder.features).tolist()
    mean = [P[P > 0.5].mean() for P in folder.model.pair_probabilities(folder.features)]
    assert said["mean pair probability"].tolist() == pytest.approx(mean, abs=0.2)


def test_structures_of_fasta(folder: Run, run_outside: Outside, tmp_path: Path) -> None:
    script = export_from_folder(folder.folder, tmp_path / "predict_structures.py")
    names, letters = folder.table["id"].tolist(), folder.table["sequence"].tolist()
    fasta = dot_bracket_text(names, letters, ["." * len(bases) for bases in letters])
    (tmp_path / "new.fa").write_text(fasta)
    ran = run_outside(RUN, tmp_path, f"{OTHERS},numba", script.name, "new.fa", "out.csv")
    assert ran.returncode == 0, ran.stderr
    said = pd.read_csv(tmp_path / "out.csv")
    assert said["name"].tolist() == names
    assert said["structure (2)"].tolist() == folder.model.predict(folder.features).tolist()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "usage: python tags.py NEW.csv [OUT.csv]\n"),
        (["a", "b", "c"], "usage: python tags.py NEW.csv [OUT.csv]\n"),
        (["nowhere.csv"], "nowhere.csv: No such file or directory.\n"),
        (["new.csv", "no/out.csv"], "no/out.csv: No such file or directory.\n"),
        (["odd.csv"], "odd.csv: line 2, column length: “long” is no number; correct the file.\n"),
    ],
)
def test_what_fails_is_one_line(
    tagger: Run, run_outside: Outside, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    export_from_folder(tagger.folder, tmp_path / "tags.py")
    (tmp_path / "new.csv").write_text("sequence,word,length\ns,dog,1\n")
    (tmp_path / "odd.csv").write_text("sequence,word,length\ns,dog,long\n")
    ran = run_outside(RUN, tmp_path, f"{OTHERS},numba", "tags.py", *arguments)
    assert (ran.returncode, ran.stderr) == (2, sentence)


def test_imports_only_python_numpy_and_perhaps_numba(
    tagger: Run, folder: Run, tmp_path: Path
) -> None:
    for run in (tagger, folder):
        tree = ast.parse(export_from_folder(run.folder, tmp_path / "script.py").read_text())
        modules = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                modules |= {alias.name.split(".")[0] for alias in node.names}
            if isinstance(node, ast.ImportFrom):
                modules.add(str(node.module).split(".")[0])
        assert modules - set(sys.stdlib_module_names) == {"numpy", "numba"}


def made_module(monkeypatch: pytest.MonkeyPatch, name: str, text: str, folder: Path) -> Any:
    path = folder / f"{name}.py"
    path.write_text(text)
    module = types.ModuleType(name)
    module.__file__ = str(path)
    monkeypatch.setitem(sys.modules, name, module)
    exec(compile(text, str(path), "exec"), module.__dict__)
    return module


def test_private_names_of_two_modules_are_kept_apart(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = '"""One."""\nimport math\n\n\ndef _part(x):\n    return x + 1\n\n\nLIMIT = 3\n'
    first += "def one(x):\n    return _part(x)\n"
    other = "from math import exp\nLIMIT = 3\n\n\ndef _part(x):\n    return exp(x)\n\n\n"
    other += 'def two(x):\n    return _part(x) + LIMIT  # "_part"\n'
    modules = [
        made_module(monkeypatch, "first_made", first, tmp_path),
        made_module(monkeypatch, "other_made", other, tmp_path),
    ]
    made = bundle_modules(modules)
    assert made.import_lines() == (["import math", "from math import exp"], [])
    text = "\n".join([*made.import_lines()[0], *made.sources])
    assert text.count("LIMIT = 3") == 1
    names: dict[str, Any] = {}
    exec(text, names)
    assert names["one"](1) == 2
    assert names["two"](0) == 4


def test_one_public_name_for_two_things_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    modules = [
        made_module(monkeypatch, "first_made", "LIMIT = 3\n", tmp_path),
        made_module(monkeypatch, "other_made", "LIMIT = 4\n", tmp_path),
    ]
    with pytest.raises(ValueError, match="LIMIT of other_made stands for something else"):
        bundle_modules(modules)
