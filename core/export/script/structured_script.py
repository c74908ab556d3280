"""The script export of sequences and molecules: one file that predicts with numpy alone."""

from __future__ import annotations

import ast
import base64
import importlib
import textwrap
from pathlib import Path

from core.export.bundle.folder_file import READING
from core.export.bundle.modules import COMPILED, SourceBundle, bundle_modules
from core.export.ensemble_members import members_of
from core.export.files.npz_file import npz_bytes
from core.export.files.parameter_arrays import KINDS, arrays_of
from core.export.finished_run import FinishedRun

_PROGRAM_TEXTS = {
    "crf": (
        "Labels the tokens of new sequences with a conditional random field.",
        "NEW.csv has the columns that the model was trained on, in any order, one row a token; "
        "the target may be absent. OUT.csv gets the sequence, the label, and the probability of "
        "every label.",
    ),
    "rna": (
        "Folds new RNA molecules with a conditional log-linear model.",
        "NEW.csv has a column of letters, one row a molecule. OUT.csv gets the structure in "
        "dot-bracket notation, the share of bases that the model expects to be right, and the mean "
        "probability of the base pairs.",
    ),
}


def write(run: FinishedRun, path: Path) -> None:
    """Write the program."""
    path.write_text(script_source(run), encoding="utf-8")


def script_source(run: FinishedRun) -> str:
    """The program's text."""
    kind = KINDS[run.takeaway.task]
    source_bundle = bundle_modules(importlib.import_module(name) for name in _modules(kind))
    model = base64.b85encode(npz_bytes(arrays_of(run))).decode()
    wrapped = "\n".join(model[start : start + 96] for start in range(0, len(model), 96))
    text = "\n\n\n".join(
        [
            _script_head(run, kind, source_bundle),
            COMPILED,
            *source_bundle.sources,
            f'MODEL = """\n{wrapped}\n"""',
            'if __name__ == "__main__":\n'
            "    sys.exit(run_packed(MODEL, predict_table, sys.argv[1:]))\n",
        ]
    )
    ast.parse(text)  # a program that Python cannot read must never leave the house
    return text


def _modules(kind: str) -> tuple[str, ...]:
    if kind == "crf":
        computing: tuple[str, ...] = ("core.losses.crf.chain",)
        predicting_module = "core.export.bundle.tag_prediction"
    else:
        # numba takes a second to import, which models of tables have no use for.
        from core.losses.rna import PREDICTION_MODULES

        computing, predicting_module = PREDICTION_MODULES, "core.export.bundle.fold_prediction"
    computing = (*computing, "core.export.bundle.member_arrays")
    return (*computing, *READING, predicting_module, "core.export.bundle.bundle_main")


def _script_head(run: FinishedRun, kind: str, source_bundle: SourceBundle) -> str:
    does, files = _PROGRAM_TEXTS[kind]
    name = {"crf": "predict_tags.py", "rna": "predict_structures.py"}[kind]
    count = len(members_of(run))
    model = f"The average of {count} models is inside" if count > 1 else "The model is inside"
    origin = f"{model}: tuned by Tunescope on {run.takeaway.dataset}, {run.test_score_text()}. It"
    origin += " needs numpy, and is faster where numba is installed."
    versions = ", ".join(f"{name} {version}" for name, version in run.takeaway.versions.items())
    usage = f"    python {name} NEW.csv OUT.csv"
    paragraphs = [textwrap.fill(words, 96) for words in (files, origin, f"Made with {versions}.")]
    docstring = "\n\n".join([does, usage, *paragraphs])
    docstring = docstring.replace("\\", "\\\\").replace('"""', "'''")
    standard_lines, library_lines = source_bundle.import_lines()
    lines = [f'"""{docstring}\n"""', "", "from __future__ import annotations", ""]
    return "\n".join([*lines, *standard_lines, "", *library_lines])
